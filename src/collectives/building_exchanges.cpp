#include "base/assert.hpp"
#include "collectives/schedule.hpp"
#include "collectives/shared_exchange.hpp"

// How a schedule describes its exchange; shared_exchange.cpp runs it.

namespace headway::collectives {

shared_exchange::shared_exchange(schedule& s, const team& t, int phase)
    : schedule_(s), team_(t), banks_(*s.banks_of(t)), phase_(phase), readers_(banks_.others()) {
  HEADWAY_ASSERT(phase == 0 || phase == 1);
  published_ = s.scratch_of<std::int64_t>(t.size);
}

void shared_exchange::show(const void* from, std::int64_t bytes) {
  show_parts(1);
  show_part(from, bytes);
}

void shared_exchange::show_parts(int parts) {
  shows_ = true;
  pieces_ = schedule_.scratch_of<piece>(parts);
}

void shared_exchange::add_piece(const piece& p) {
  if (p.bytes == 0) return;
  total_ += p.bytes;
  if (pieces_count_ > 0) {
    piece& last = pieces_[pieces_count_ - 1];
    const bool behind = last.from && last.from + last.bytes == p.from;
    adjacent_ = adjacent_ && behind;
    if (behind && last.skipped == p.skipped && last.reader == p.reader) {
      last.bytes += p.bytes;
      return;
    }
  }
  pieces_[pieces_count_++] = p;
}

void shared_exchange::show_part(const void* from, std::int64_t bytes, int reader) {
  add_piece({static_cast<const std::byte*>(from), bytes, false, reader});
}

void shared_exchange::skip_part(const void* from, std::int64_t bytes) {
  add_piece({static_cast<const std::byte*>(from), bytes, true, shared_banks::several});
}

void shared_exchange::show_to_each(int parts) {
  show_parts(parts + 1);
  table_ = schedule_.scratch_of<entry>(parts);
  show_part(table_, entry_bytes * parts);
}

void shared_exchange::show_to(int entry_number, int reader, const void* from, std::int64_t bytes) {
  const bool lent = team_.memory.lends && is_worth_lending(bytes);
  table_[entry_number] = {
      .place = lent ? reinterpret_cast<std::uint64_t>(from) : static_cast<std::uint64_t>(total_),
      .bytes = static_cast<std::uint64_t>(bytes) & (~std::uint64_t{0} >> 1),
      .is_lent = lent};
  if (lent) lends_parts_ = true;
  else show_part(from, bytes, reader);
}

void shared_exchange::reads(int count) { wanted_ = schedule_.scratch_of<wanted>(count); }

void shared_exchange::copy(const part& what, void* to) {
  HEADWAY_DEBUG_ASSERT(what.rank != team_.rank && 0 <= what.offset &&
                       what.offset + what.bytes <= what.total);
  want({what, static_cast<std::byte*>(to)});
}

void shared_exchange::copy_own(int rank, int entry_number, std::int64_t bytes, void* to) {
  want({{rank, of_own_stream, 0, bytes}, static_cast<std::byte*>(to), 0, entry_number});
}

void shared_exchange::want(const wanted& w) {
  sources_ |= shared_banks::only(w.rank);
  wanted_[wanted_count_++] = w;
}

void shared_exchange::apply(const part& what, void* to, std::int64_t element_bytes,
                            const reducer& op) {
  HEADWAY_ASSERT(element_bytes > 0 && banks_.piece_bytes() % element_bytes == 0);
  copy(what, to);
  wanted_[wanted_count_ - 1].element_bytes = element_bytes;
  op_ = op;
  if (!arriving_) arriving_ = schedule_.scratch(banks_.chunk_bytes());
}

void shared_exchange::combine(const operands& what) {
  HEADWAY_ASSERT(what.element_bytes > 0 && banks_.piece_bytes() % what.element_bytes == 0);
  combines_ = true;
  combined_ = what;
  for (int rank = what.first; rank <= what.last; ++rank)
    if (rank != team_.rank) sources_ |= shared_banks::only(rank);
  arriving_ = schedule_.scratch(banks_.chunk_bytes());
  if (what.to == what.own) {
    HEADWAY_ASSERT(!shows_ || what.bytes <= banks_.bank_bytes());
    sum_ = schedule_.scratch(banks_.chunk_bytes());
  }
}

}  // namespace headway::collectives
