#include "collectives/wanted_parts.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "collectives/read_progress.hpp"
#include "collectives/schedule.hpp"

namespace headway::collectives {

using messages::outcome;

// --- building

void wanted_parts::reserve(int count) { all_ = schedule_.scratch_of<wanted>(count); }

void wanted_parts::want(const wanted& w) {
  run_.sources |= rank_set::only(w.rank);
  run_.wanted_bytes += w.bytes;
  all_[count_++] = w;
}

void wanted_parts::copy(const part& what, void* to) {
  HEADWAY_DEBUG_ASSERT(what.rank != run_.ranks.rank && 0 <= what.offset &&
                       what.offset + what.bytes <= what.total);
  want({what, static_cast<std::byte*>(to)});
}

void wanted_parts::copy_own(int rank, int entry_number, std::int64_t bytes, void* to) {
  want({{rank, peer_streams::any_size, 0, bytes}, static_cast<std::byte*>(to), 0, entry_number});
}

void wanted_parts::apply(const part& what, void* to, std::int64_t element_bytes,
                         const reducer& op) {
  HEADWAY_ASSERT(element_bytes > 0 && run_.memory.piece_bytes() % element_bytes == 0);
  copy(what, to);
  all_[count_ - 1].element_bytes = element_bytes;
  op_ = op;
  if (!arriving_) arriving_ = schedule_.scratch(run_.memory.chunk_bytes());
}

// --- running

void wanted_parts::begin() noexcept {
  for (int i = 0; i < count_; ++i) {
    wanted& w = all_[i];
    w.done = 0;
    if (w.entry == no_entry) continue;
    w.total = peer_streams::any_size;
    w.address = 0;
  }
}

bool wanted_parts::advance() noexcept {
  bool all = true;
  for (int i = 0; i < count_; ++i) {
    const bool taken = take(all_[i]);
    all = all && taken;
    if (!taken && all_[i].element_bytes != 0) break;  // the next one is applied after it
  }
  return all;
}

bool wanted_parts::could_advance() const noexcept {
  for (int i = 0; i < count_; ++i) {
    const wanted& w = all_[i];
    if (w.done == over) continue;
    if (could_take(w)) return true;
    if (w.element_bytes != 0) break;
  }
  return false;
}

std::int64_t wanted_parts::taken_of(int rank) const noexcept {
  auto least = all_of_it;
  for (int i = 0; i < count_; ++i) {
    const wanted& w = all_[i];
    if (w.rank != rank || w.done == over || w.address != 0) continue;
    least = std::min(least, w.is_unknown() ? stream_entry_bytes * w.entry : w.offset + w.done);
  }
  return least;
}

/// Whether `take` would find something to do.
bool wanted_parts::could_take(const wanted& w) const noexcept {
  if (!streams_.is_there(w.rank)) return false;
  if (streams_.has_failed(w.rank)) return true;
  if (w.is_unknown()) return find_entry(w).bytes >= stream_entry_bytes;
  return w.done == w.bytes || streams_.bytes_of(w.rank) != w.total || find(w).bytes > 0;
}

wanted_parts::found wanted_parts::find_entry(const wanted& w) const noexcept {
  return streams_.find(w.rank, stream_entry_bytes * w.entry, stream_entry_bytes);
}

/// The rest of what is wanted.
wanted_parts::found wanted_parts::find(const wanted& w) const noexcept {
  const auto bytes = w.bytes - w.done;
  if (w.address != 0) return {nullptr, w.address + static_cast<std::uint64_t>(w.done), bytes};
  return streams_.find(w.rank, w.offset + w.done, bytes);
}

/// True: there is nothing more to do for it.
bool wanted_parts::take(wanted& w) noexcept {
  if (w.done == over) return true;
  if (!streams_.is_there(w.rank)) return false;
  if (w.done == 0 && !streams_.size_fits(w.rank, w.total)) {
    w.done = over;
    return true;
  }
  if (w.is_unknown() && !read_entry(w)) return w.done == over;
  if (!take_bytes(w)) return false;
  w.done = over;
  return true;
}

/// False: the entry is not there, or has another size for this rank.
bool wanted_parts::read_entry(wanted& w) noexcept {
  const auto f = find_entry(w);
  if (f.bytes < stream_entry_bytes) return false;
  stream_entry own{};
  if (streams_.read(w.rank, f, reinterpret_cast<std::byte*>(&own), stream_entry_bytes)) {
    w.offset = own.is_lent ? 0 : static_cast<std::int64_t>(own.place);
    w.address = own.is_lent ? own.place : 0;
    w.total = streams_.bytes_of(w.rank);
    const auto bytes = static_cast<std::int64_t>(own.bytes);
    if (bytes == w.bytes) return true;
    run_.fail(bytes > w.bytes ? outcome::truncated : outcome::failed, w.rank);
  }
  w.done = over;
  return false;
}

/// True: all of it was taken.
bool wanted_parts::take_bytes(wanted& w) noexcept {
  const auto chunk_bytes = run_.memory.chunk_bytes();
  while (w.done < w.bytes) {
    const auto f = find(w);
    auto bytes =
        std::min({f.bytes, run_.budget, f.here ? chunk_bytes : exchange_run::advanced_at_once});
    if (w.element_bytes != 0)
      bytes = std::min(bytes, chunk_bytes) / w.element_bytes * w.element_bytes;
    if (bytes <= 0) return false;
    run_.budget -= bytes;
    run_.moved = true;
    std::byte* const to = w.to + w.done;
    if (w.element_bytes == 0) {
      if (!streams_.read(w.rank, f, to, bytes)) return true;
    } else {
      if (!f.here && !streams_.read(w.rank, f, arriving_, bytes)) return true;
      op_.apply(op_, f.here ? f.here : arriving_, to, bytes / w.element_bytes);
    }
    w.done += bytes;
    if (run_.long_streams && w.done < w.bytes) progress_.publish();
  }
  return true;
}

}  // namespace headway::collectives
