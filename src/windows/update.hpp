#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "collectives/reducer.hpp"
#include "datatypes/layout.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

/// A change of elements that lie in a row as in an array of their kind ("array form"; pairs such as
/// MPI_SHORT_INT have gaps there).
/// Threads:  under `control_line::changing` of the target.
class update {
 public:
  /// Nothing where the standard does not allow the operator on the kind.
  [[nodiscard]] static std::optional<update> of(const change& which) noexcept;

  [[nodiscard]] std::int64_t extent() const noexcept { return one_.extent(); }
  /// `operand` may be null for MPI_NO_OP, `before` if nothing is fetched. The elements may have any
  /// address; the gap behind the last one is not accessed.
  void apply(std::byte* elements, std::int64_t count, const std::byte* operand,
             std::byte* before) const noexcept;

 private:
  update(const collectives::reducer& how, const datatypes::layout& one, bool changes) noexcept
      : how_(how), one_(one), changes_(changes) {}
  /// In parts, in memory that has the alignment of the elements and the gap behind them.
  void apply_to_copy(std::byte* elements, std::int64_t count, const std::byte* operand,
                     std::byte* before) const noexcept;

  collectives::reducer how_;
  const datatypes::layout& one_;  // a predefined type
  bool changes_;
};

/// Replaces an element of `bytes` by `value` if it equals `expected`. `before` gets what it was.
void compare_and_swap(std::byte* element, std::size_t bytes, const std::byte* expected,
                      const std::byte* value, std::byte* before) noexcept;

}  // namespace headway::windows
