#include "collectives/bank_readers.hpp"

#include <algorithm>
#include <limits>

namespace headway::collectives {

bool bank_readers::has_finished(int rank, std::uint64_t exchange) noexcept {
  if (finished_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire) >= exchange)
    return true;
  const auto now = memory_.reading_of(rank).finished();
  note_finished(rank, now);
  return now >= exchange;
}

bool bank_readers::is_known_as_read(const shown_exchange& what) const noexcept {
  return what.readers.all([&](int rank) {
    return finished_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire) >=
           what.exchange;
  });
}

bool bank_readers::is_read(const shown_exchange& what) noexcept {
  return what.readers.all([&](int rank) { return has_finished(rank, what.exchange); });
}

std::int64_t bank_readers::taken(const shown_exchange& what) noexcept {
  auto least = std::numeric_limits<std::int64_t>::max();
  what.readers.each([&](int rank) {
    if (has_finished(rank, what.exchange)) return;
    const auto bytes = memory_.reading_of(rank).taken_of(
        bank_memory::line_number(what.exchange), static_cast<std::size_t>(memory_.own_rank()),
        what.exchange);
    least = std::min(least, static_cast<std::int64_t>(bytes));
  });
  return least;
}

}  // namespace headway::collectives
