#include "mpi/point_to_point/scattered_data.hpp"

#include <array>
#include <utility>

namespace headway::mpi {
namespace {

/// Blocks of `scattered_memory::packed_bytes_max` that this thread has used and keeps.
class spare_blocks {
 public:
  [[nodiscard]] std::unique_ptr<std::byte[]> take() {
    if (count_ != 0) return std::move(kept_[--count_]);
    return std::make_unique_for_overwrite<std::byte[]>(scattered_data::packed_bytes_max);
  }
  void give_back(std::unique_ptr<std::byte[]> block) noexcept {
    if (count_ != kept_.size()) kept_[count_++] = std::move(block);
  }

 private:
  std::array<std::unique_ptr<std::byte[]>, 16> kept_;
  std::size_t count_ = 0;
};

thread_local spare_blocks spare;

/// Data up to here gets memory of its own size.
constexpr std::uint64_t small_bytes_max = 4096;

}  // namespace

scattered_data::scattered_data(datatypes::layout_ptr layout, void* buffer, std::int64_t count,
                               direction goes)
    : layout_(std::move(layout)),
      buffer_(buffer),
      count_(count),
      bytes_(static_cast<std::uint64_t>(layout_->size() * count)) {
  if (goes == direction::in) return;
  if (bytes_ > small_bytes_max) packed_ = spare.take();
  else packed_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
}

scattered_data::~scattered_data() {
  if (packed_ && bytes_ > small_bytes_max) spare.give_back(std::move(packed_));
}

std::span<const std::byte> scattered_data::pack(std::uint64_t begin, std::size_t count) noexcept {
  const auto first = static_cast<std::int64_t>(begin);
  layout_->pack(buffer_, count_, first, first + static_cast<std::int64_t>(count), packed_.get());
  return {packed_.get(), count};
}

void scattered_data::unpack(std::uint64_t begin, std::span<const std::byte> from) noexcept {
  const auto first = static_cast<std::int64_t>(begin);
  const auto end = first + static_cast<std::int64_t>(from.size());
  layout_->unpack(from.data(), first, end, buffer_, count_);
}

}  // namespace headway::mpi
