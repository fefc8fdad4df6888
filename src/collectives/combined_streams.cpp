#include "collectives/combined_streams.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/copy_between_cores.hpp"
#include "collectives/read_progress.hpp"
#include "collectives/schedule.hpp"
#include "collectives/wanted_parts.hpp"

namespace headway::collectives {

using messages::outcome;

void combined_streams::combine(const operands& what) {
  HEADWAY_ASSERT(what.element_bytes > 0 && run_.memory.piece_bytes() % what.element_bytes == 0);
  exist_ = true;
  what_ = what;
  sources_ = rank_set::from_to(what.first, what.last).without(rank_set::only(run_.ranks.rank));
  run_.sources |= sources_;
  arriving_ = schedule_.scratch(run_.memory.chunk_bytes());
  if (what.to == what.own) sum_ = schedule_.scratch(run_.memory.chunk_bytes());
}

bool combined_streams::advance() noexcept {
  if (!exist_ || done_ == over) return true;
  if (!are_all_there()) return false;
  const bool fits = done_ != 0 || sources_.all([this](int rank) {
    return streams_.size_fits(rank, what_.bytes);
  });
  while (fits && run_.how == outcome::ok && done_ < what_.bytes) {
    const auto there = std::min(ready_bytes(), run_.memory.chunk_bytes());
    const auto bytes = there / what_.element_bytes * what_.element_bytes;
    if (bytes == 0 || run_.budget <= 0) return false;
    run_.moved = true;
    combine_chunk(bytes);
    done_ += bytes;
    if (run_.long_streams) progress_.publish();
  }
  done_ = over;
  return true;
}

std::optional<std::int64_t> combined_streams::taken_of(int rank) const noexcept {
  if (!exist_ || rank < what_.first || what_.last < rank) return std::nullopt;
  return done_ == over ? wanted_parts::all_of_it : done_;
}

/// How many more bytes of all streams are there, in one piece.
std::int64_t combined_streams::ready_bytes() const noexcept {
  auto bytes = what_.bytes - done_;
  const bool there = sources_.all([&](int rank) {
    if (!streams_.is_there(rank)) return false;
    bytes = std::min(bytes, streams_.find(rank, done_, bytes).bytes);
    return true;
  });
  return there ? bytes : 0;
}

bool combined_streams::are_all_there() const noexcept {
  return sources_.all([this](int rank) { return streams_.is_there(rank); });
}

/// All streams are there, and one has another size than is due.
bool combined_streams::is_any_unequal() const noexcept {
  return are_all_there() &&
         !sources_.all([this](int rank) { return streams_.bytes_of(rank) == what_.bytes; });
}

/// The operator's right side is the sum so far, its left side what is earlier in the order of
/// ranks.
void combined_streams::combine_chunk(std::int64_t bytes) noexcept {
  const auto copy = [bytes](std::byte* to, const std::byte* from) {
    base::copy_from_writer(to, from, static_cast<std::size_t>(bytes));
  };
  auto* const result = static_cast<std::byte*>(what_.to) + done_;
  std::byte* const sum = sum_ ? sum_ : result;
  for (int rank = what_.last; rank >= what_.first; --rank) {
    const bool first = rank == what_.last;
    const std::byte* next = static_cast<const std::byte*>(what_.own) + done_;
    if (rank != run_.ranks.rank) {
      const auto f = streams_.find(rank, done_, bytes);
      run_.budget -= bytes;
      next = f.here ? f.here : first ? sum : arriving_;
      if (!f.here && !streams_.read(rank, f, first ? sum : arriving_, bytes)) return;
    }
    if (!first) what_.op.apply(what_.op, next, sum, bytes / what_.element_bytes);
    else if (next != sum) copy(sum, next);
  }
  if (sum != result) copy(result, sum);
}

}  // namespace headway::collectives
