#pragma once

#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace headway::mpi {

/// An array argument of either form of a procedure: int, or 64-bit numbers (MPI_Count, MPI_Aint).
/// A view: nothing is copied. Null stays null.
class integers {
 public:
  explicit integers(const int* narrow) noexcept : at_(narrow), wide_(false) {}
  explicit integers(const std::int64_t* wide) noexcept : at_(wide), wide_(true) {}

  [[nodiscard]] bool is_null() const noexcept { return at_ == nullptr; }
  [[nodiscard]] std::int64_t operator[](std::int64_t i) const noexcept {
    HEADWAY_DEBUG_ASSERT(at_ != nullptr && i >= 0);
    return wide_ ? static_cast<const std::int64_t*>(at_)[i] : static_cast<const int*>(at_)[i];
  }
  [[nodiscard]] std::vector<std::int64_t> copy(std::int64_t count) const {
    HEADWAY_ASSERT(count >= 0);
    std::vector<std::int64_t> made(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) made[static_cast<std::size_t>(i)] = (*this)[i];
    return made;
  }

 private:
  const void* at_;
  bool wide_;
};

}  // namespace headway::mpi
