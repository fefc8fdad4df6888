#pragma once

#include <string>

#include "base/result.hpp"
#include "packets/strategy.hpp"

struct headway_strategy;

namespace headway::packets::strategies {

/// A strategy from a shared object: include/headway/strategy.h. Converts the arguments into C
/// arrays on the stack.
/// Threads:  as every strategy.
/// Errors:   answers that break the rules of `strategy::split` are replaced by those of `sampled`.
class loaded final : public strategy {
 public:
  /// Keeps the shared object loaded for as long as the process lives.
  /// Errors:   one line, with the path: the object cannot be opened, lacks the function, refuses,
  ///           or has another version.
  [[nodiscard]] static base::result<const strategy*> from(const std::string& path);

  explicit loaded(const headway_strategy& what) noexcept : what_(what) {}

  [[nodiscard]] std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                   std::span<const rail_state> rails,
                                   const frame_room& room) const noexcept override;
  [[nodiscard]] std::size_t split(const remainder& what, std::span<const rail_state> rails,
                                  std::span<piece> pieces) const noexcept override;
  [[nodiscard]] bool collects() const noexcept override;

 private:
  const headway_strategy& what_;
};

}  // namespace headway::packets::strategies
