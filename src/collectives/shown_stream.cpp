#include "collectives/shown_stream.hpp"

#include "base/copy_between_cores.hpp"
#include "collectives/schedule.hpp"

namespace headway::collectives {

using place_of_value = bank_memory::value::place;

// --- building

shown_stream::shown_stream(schedule& s, exchange_run& run) noexcept
    : schedule_(s), run_(run), readers_(run.memory.others()) {}

void shown_stream::show(const void* from, std::int64_t bytes) {
  show_parts(1);
  show_part(from, bytes);
}

void shown_stream::show_parts(int parts) {
  exists_ = true;
  pieces_ = schedule_.scratch_of<piece>(parts);
}

void shown_stream::add(const piece& p) {
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

void shown_stream::show_part(const void* from, std::int64_t bytes, int reader) {
  add({static_cast<const std::byte*>(from), bytes, false, reader});
}

void shown_stream::skip_part(const void* from, std::int64_t bytes) {
  add({static_cast<const std::byte*>(from), bytes, true, bank_memory::several});
}

void shown_stream::show_to_each(int parts) {
  show_parts(parts + 1);
  table_ = schedule_.scratch_of<stream_entry>(parts);
  show_part(table_, stream_entry_bytes * parts);
}

void shown_stream::show_to(int entry_number, int reader, const void* from, std::int64_t bytes) {
  const bool lent = run_.ranks.memory.lends && is_worth_lending(bytes);
  table_[entry_number] = {
      .place = lent ? reinterpret_cast<std::uint64_t>(from) : static_cast<std::uint64_t>(total_),
      .bytes = static_cast<std::uint64_t>(bytes) & (~std::uint64_t{0} >> 1),
      .is_lent = lent};
  if (lent) lends_parts_ = true;
  else show_part(from, bytes, reader);
}

bool shown_stream::is_lent() const noexcept {
  return run_.ranks.memory.lends && is_worth_lending(total_) && lendable_ && adjacent_ && !table_;
}

std::int64_t shown_stream::whole_bytes_needed() const noexcept {
  constexpr std::int64_t line = 64;
  if (is_small() || run_.failed_before || is_lent()) return 0;
  return (total_ + line - 1) / line * line;
}

bool shown_stream::take_area() noexcept {
  auto* const areas = run_.memory.passed();
  const auto bytes = whole_bytes_needed();
  if (!areas || bytes == 0) return false;
  auto which = rails::passed_place::none;
  std::byte* const area = areas->take(bytes, which);
  if (!area) return false;
  at_ = area;
  where_ = {.address = 0, .begin = place_of_value::in_passed(which)};
  return true;
}

bool shown_stream::take_of_ring() noexcept {
  auto& memory = run_.memory;
  const auto begin = memory.take_of_ring(run_.counted, readers_, whole_bytes_needed());
  if (!begin) return false;
  at_ = memory.ring(run_.ranks.rank) + *begin;
  where_ = {.address = 0, .begin = static_cast<std::uint64_t>(*begin) | place_of_value::in_ring};
  return true;
}

// --- running

void shown_stream::begin() noexcept {
  begun_ = false;
  at_ = nullptr;
  where_ = {};
  shown_ = piece_shown_ = 0;
  piece_ = 0;
}

bool shown_stream::advance() noexcept {
  if (!begun_) {
    // Since it was placed, this rank may have read what the other one had shown in an area.
    if (!is_in_area()) take_area();
    fill_line();
  }
  if (run_.failed_before || is_lent()) return true;
  auto& l = run_.memory.line_of(run_.ranks.rank, run_.number);
  const auto before = shown_;
  for (std::int64_t bytes = 0; (bytes = room()) > 0;) {
    copy(bytes);
    l.extend(static_cast<std::uint64_t>(shown_));
    if (before == 0 && shown_ < total_) wake_readers();
  }
  if (shown_ > before) {
    run_.moved = true;
    wake_readers();
  }
  return shown_ == total_;
}

void shown_stream::fill_line() noexcept {
  run_.moved = begun_ = true;
  auto& l = run_.memory.line_of(run_.ranks.rank, run_.number);
  l.value.total = run_.failed_before ? bank_memory::no_stream : static_cast<std::uint64_t>(total_);
  if (!is_small()) l.value.longer = where_;
  l.value.finished = run_.banks.finished();
  if (run_.failed_before) {
    shown_ = total_;
    l.publish(run_.number, 0);
  } else if (is_lent()) {
    l.value.longer.address = reinterpret_cast<std::uint64_t>(pieces_[0].from);
    shown_ = total_;
    l.publish(run_.number, l.value.total);
  } else {
    copy(room());
    l.publish(run_.number, static_cast<std::uint64_t>(shown_));
  }
  wake_readers();
}

/// How many bytes can be shown now, at most a piece; not fewer than a piece, if more are left. What
/// lies in the line is shown with it.
std::int64_t shown_stream::room() const noexcept {
  if (is_small()) return total_ - shown_;
  if (where_.is_whole()) return std::min(bank_memory::piece_bytes_max, total_ - shown_);
  const auto next = std::min(run_.memory.piece_bytes(), total_ - shown_);
  const auto behind = shown_ + next - run_.memory.bank_bytes();
  const bool fits = behind <= 0 || run_.banks.readers().taken(
                                       {.exchange = run_.counted, .readers = readers_}) >= behind;
  return fits ? next : 0;
}

/// `bytes` is not more than lies before the bank's end: a bank has whole pieces, and a stream that
/// goes round in it begins at its beginning.
void shown_stream::copy(std::int64_t bytes) noexcept {
  auto& memory = run_.memory;
  std::byte* to = memory.line_of(run_.ranks.rank, run_.number).value.small;
  if (!is_small()) to = at_ + (where_.is_whole() ? shown_ : shown_ % memory.bank_bytes());
  shown_ += bytes;
  while (bytes > 0) {
    const piece& p = pieces_[piece_];
    const auto copied = std::min(bytes, p.bytes - piece_shown_);
    const auto* const from = p.from + piece_shown_;
    if (!p.skipped && is_in_area())
      base::copy_between_cores(to, from, static_cast<std::size_t>(copied));
    else if (!p.skipped) memory.copy_for(p.reader).copy(to, from, static_cast<std::size_t>(copied));
    to += copied;
    bytes -= copied;
    piece_shown_ += copied;
    if (piece_shown_ < p.bytes) continue;
    ++piece_;
    piece_shown_ = 0;
  }
}

}  // namespace headway::collectives
