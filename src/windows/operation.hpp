#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/operators.hpp"
#include "datatypes/layout.hpp"

namespace headway::windows {

/// Elements in memory of this process.
struct local_data {
  std::byte* at = nullptr;
  std::int64_t count = 0;
  const datatypes::layout* type = nullptr;

  [[nodiscard]] std::int64_t bytes() const noexcept { return count * type->size(); }
  [[nodiscard]] bool is_one_block() const noexcept { return type->is_one_block(count); }
  /// Of data in one block.
  [[nodiscard]] std::byte* block() const noexcept { return at + type->true_lb(); }
};

/// Elements in the window of a rank. `offset` is that of their address from the window's base; in a
/// window without a base (MPI_Win_create_dynamic) the address itself.
struct remote_data {
  int rank = 0;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  const datatypes::layout* type = nullptr;

  [[nodiscard]] std::int64_t bytes() const noexcept { return count * type->size(); }
  [[nodiscard]] bool is_one_block() const noexcept { return type->is_one_block(count); }
  [[nodiscard]] std::int64_t block() const noexcept { return offset + type->true_lb(); }
};

/// How the elements of a target are changed. All elements, of the origin too, are of one kind.
struct change {
  collectives::operation what = collectives::operation::replace;
  datatypes::number kind = datatypes::number::byte;
};

enum class lock_type : std::uint8_t { shared, exclusive };

/// How an operation or a synchronisation ended; a greater value outweighs a smaller one.
enum class status : std::uint8_t {
  ok,
  out_of_range,  ///< some of the memory is not in the window; nothing of it was accessed
  lost,          ///< a process of the window is gone
};

}  // namespace headway::windows
