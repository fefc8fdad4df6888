#include "mpi/partitioned/tag_ranges.hpp"

#include "base/lock_guard.hpp"

namespace headway::mpi {

std::optional<int> tag_ranges::take(std::uint32_t count) {
  constexpr std::uint32_t all = messages::partition_tags.size();
  if (count > all) return {};
  const base::lock_guard held(lock_);
  bool wrapped = false;
  std::uint32_t begin = next_;
  while (true) {
    if (begin > all - count) {
      if (wrapped) return {};
      wrapped = true;
      begin = 0;
    }
    // The last range that begins before the end of this one: they overlap unless it ends before.
    auto other = taken_.lower_bound(begin + count);
    if (other == taken_.begin() || (--other)->second <= begin) break;
    begin = other->second;
  }
  taken_.emplace(begin, begin + count);
  next_ = begin + count;
  return messages::partition_tags.first + static_cast<int>(begin);
}

void tag_ranges::give_back(int first) noexcept {
  const base::lock_guard held(lock_);
  taken_.erase(static_cast<std::uint32_t>(first - messages::partition_tags.first));
}

}  // namespace headway::mpi
