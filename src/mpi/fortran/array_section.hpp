#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "mpi/fortran/descriptor.hpp"

namespace headway::mpi::fortran {

/// The bytes of an array section that is not contiguous, as a sequence: its elements in Fortran's
/// order.
/// Threads:  any, for different bytes.
class array_section {
 public:
  explicit array_section(const descriptor& array)
      : address_(static_cast<std::byte*>(array.address)),
        element_bytes_(array.element_bytes),
        dimensions_(array.dimensions, array.dimensions + array.rank) {
    HEADWAY_ASSERT(element_bytes_ > 0 && array.rank <= descriptor::dimensions_max);
    HEADWAY_ASSERT(std::ranges::all_of(dimensions_, [](const auto& d) { return d.extent > 0; }));
  }

  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Copies the bytes from `first` on.
  void read(std::size_t first, std::span<std::byte> into) const noexcept;
  /// Writes those bytes from `first` on that differ from `before`: the program may use the others
  /// meanwhile.
  void write_changes(std::size_t first, std::span<const std::byte> now,
                     std::span<const std::byte> before) const noexcept;

 private:
  /// Calls `each` with the address of every piece of `count` bytes from `first` on, its offset from
  /// `first` and its length.
  template <class Each>
  void visit(std::size_t first, std::size_t count, Each&& each) const;

  std::byte* address_;
  std::size_t element_bytes_;
  std::vector<descriptor::dimension> dimensions_;
};

}  // namespace headway::mpi::fortran
