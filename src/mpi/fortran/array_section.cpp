#include "mpi/fortran/array_section.hpp"

#include <cstring>

namespace headway::mpi::fortran {

std::size_t array_section::bytes() const noexcept {
  std::size_t bytes = element_bytes_;
  for (const auto& each : dimensions_) bytes *= static_cast<std::size_t>(each.extent);
  return bytes;
}

template <class Each>
void array_section::visit(std::size_t first, std::size_t count, Each&& each) const {
  HEADWAY_DEBUG_ASSERT(first + count <= bytes());
  std::array<std::ptrdiff_t, descriptor::dimensions_max> index{};
  std::byte* element = address_;
  auto number = static_cast<std::ptrdiff_t>(first / element_bytes_);
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    index[i] = number % dimensions_[i].extent;
    number /= dimensions_[i].extent;
    element += index[i] * dimensions_[i].stride_bytes;
  }
  std::size_t skipped = first % element_bytes_;
  for (std::size_t at = 0; at < count;) {
    const std::size_t length = std::min(element_bytes_ - skipped, count - at);
    each(element + skipped, at, length);
    at += length;
    skipped = 0;
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      element += dimensions_[i].stride_bytes;
      if (++index[i] < dimensions_[i].extent) break;
      element -= dimensions_[i].extent * dimensions_[i].stride_bytes;
      index[i] = 0;
    }
  }
}

void array_section::read(std::size_t first, std::span<std::byte> into) const noexcept {
  visit(first, into.size(), [&](const std::byte* piece, std::size_t at, std::size_t length) {
    std::memcpy(&into[at], piece, length);
  });
}

void array_section::write_changes(std::size_t first, std::span<const std::byte> now,
                                  std::span<const std::byte> before) const noexcept {
  HEADWAY_DEBUG_ASSERT(now.size() == before.size());
  visit(first, now.size(), [&](std::byte* piece, std::size_t at, std::size_t length) {
    if (std::memcmp(&now[at], &before[at], length) == 0) return;
    for (std::size_t i = 0; i < length; ++i) {
      if (now[at + i] != before[at + i]) piece[i] = now[at + i];
    }
  });
}

}  // namespace headway::mpi::fortran
