#include "collectives/read_progress.hpp"

#include <algorithm>
#include <utility>

#include "collectives/combined_streams.hpp"
#include "collectives/schedule.hpp"
#include "collectives/wanted_parts.hpp"

namespace headway::collectives {

read_progress::read_progress(schedule& s, exchange_run& run, const wanted_parts& parts,
                             const combined_streams& sum)
    : run_(run),
      streams_(run),
      parts_(parts),
      sum_(sum),
      published_(s.scratch_of<std::int64_t>(run.ranks.size)) {}

void read_progress::begin() noexcept {
  has_begun_ = false;
  std::fill_n(published_, run_.ranks.size, 0);
}

std::int64_t read_progress::taken_of(int rank) const noexcept {
  if (run_.failed_before) return wanted_parts::all_of_it;
  // A rank whose stream lies in one piece does not ask.
  if (streams_.is_there(rank) && streams_.is_whole(rank)) return published_[rank];
  if (const auto combined = sum_.taken_of(rank)) return *combined;
  return parts_.taken_of(rank);
}

bool read_progress::is_due() const noexcept {
  if (!run_.long_streams) return false;
  for (int rank = 0; rank < run_.ranks.size; ++rank)
    if (rank != run_.ranks.rank && taken_of(rank) != published_[rank]) return true;
  return false;
}

void read_progress::publish() noexcept {
  if (!run_.banks.is_oldest_of_line(run_.counted)) return;
  auto& reading = run_.memory.reading_of(run_.ranks.rank);
  const auto line = bank_memory::line_number(run_.number);
  for (int rank = 0; rank < run_.ranks.size; ++rank) {
    const auto taken = taken_of(rank);
    if (rank == run_.ranks.rank || taken == published_[rank]) continue;
    if (!std::exchange(has_begun_, true)) reading.begin(line, run_.counted);
    run_.moved = true;
    published_[rank] = taken;
    reading.take(line, static_cast<std::size_t>(rank), static_cast<std::uint64_t>(taken));
    run_.memory.wake_all(rank_set::only(rank), true);
  }
}

}  // namespace headway::collectives
