#include "collectives/shared_exchange.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.hpp"
#include "base/copy_between_cores.hpp"
#include "collectives/looking.hpp"
#include "collectives/schedule.hpp"

namespace headway::collectives {

using messages::outcome;
using place_of_value = shared_banks::value::place;

namespace {

constexpr auto all_of_it = std::numeric_limits<std::int64_t>::max();

void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) noexcept {
  base::copy_from_writer(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

bool shared_exchange::lends() const noexcept {
  return team_.memory.lends && total_ >= lent_bytes_min && lendable_ && adjacent_ && !table_ &&
         !sum_;
}

void shared_exchange::bind(std::uint64_t operation, std::uint64_t history) noexcept {
  const shared_banks::numbers its(operation, history, phase_);
  number_ = its.in_line;
  counted_ = its.counted;
  at_ = stage::working;
  failed_before_ = begun_ = in_ring_ = false;
  begin_ = no_place;
  shown_ = piece_shown_ = combined_bytes_ = 0;
  publishes_taken_ = false;
  std::fill_n(published_, team_.size, 0);
  piece_ = 0;
  for (int i = 0; i < wanted_count_; ++i) {
    wanted_[i].done = 0;
    if (wanted_[i].entry == no_entry) continue;
    wanted_[i].total = of_own_stream;
    wanted_[i].address = 0;
  }
  long_streams_ = total_ > banks_.bank_bytes();
  how_ = outcome::ok;
  failed_rank_ = -1;
  banks_.bind(*this);
}

bool shared_exchange::advance(bool failed) noexcept {
  failed_before_ = failed;
  return go_on();
}

bool shared_exchange::advance_at_start(bool failed) noexcept {
  constexpr int looks_max = 4;
  if (advance(failed)) return true;
  const bool worth_it = !team_.oversubscribed && total_ <= banks_.piece_bytes();
  for (int looks = worth_it ? looks_max : 0; looks > 0; --looks) {
    base::relax();
    if (go_on()) return true;
  }
  return false;
}

bool shared_exchange::advance_spinning(bool failed) noexcept {
  failed_before_ = failed;
  bool ended = false;
  do {
    moved_ = false;
    ended = look_for_a_while(team_.oversubscribed, [this] { return go_on() || moved_; });
  } while (ended && at_ != stage::ended);
  return ended;
}

void shared_exchange::wait() noexcept {
  notifies_ = false;
  ended_.reset();
  banks_.pend(*this);
  team_.via.wait(ended_);
}

void shared_exchange::end_later() noexcept {
  notifies_ = true;
  banks_.pend(*this);
}

/// By the thread that has advanced it to its end.
void shared_exchange::ended() noexcept {
  if (notifies_) schedule_.exchange_ended(*this);
  else ended_.complete();
}

bool shared_exchange::go_on() noexcept {
  // Nothing is shown after the team's log is broken: each rank is told of that by itself, with the
  // reason.
  if (failed_before_ && at_ == stage::working && team_.log.is_broken()) [[unlikely]] {
    give_up(outcome::failed, team_.rank);
    return true;
  }
  budget_ = advanced_at_once;
  if (at_ == stage::working) {
    bool all = show_more();
    if (!all && sum_) return false;  // what is read takes the place of what is shown
    if (!failed_before_) {
      for (int i = 0; i < wanted_count_; ++i) {
        const bool taken = take(wanted_[i]);
        all = all && taken;
        if (!taken && wanted_[i].element_bytes != 0) break;  // the next one is applied after it
      }
      if (combines_) all = take_combined() && all;
    }
    if (!all) {
      if (long_streams_) publish_taken();
      return false;
    }
    moved_ = true;
    at_ = stage::waiting_for_readers;
    banks_.finish(*this);
    wake_writers();
  }
  if (at_ == stage::waiting_for_readers) {
    if (waits_for_readers() && !banks_.is_read({.exchange = counted_, .readers = readers_}))
      return false;
    at_ = stage::ended;
  }
  return true;
}

bool shared_exchange::could_go_on() const noexcept {
  if (at_ == stage::waiting_for_readers)
    return banks_.is_read({.exchange = counted_, .readers = readers_});
  if (shows_ && !failed_before_ && !lends() && shown_ < total_ && room() > 0) return true;
  if (failed_before_) return false;
  for (int i = 0; i < wanted_count_; ++i) {
    const wanted& w = wanted_[i];
    if (w.done == over) continue;
    if (could_take(w)) return true;
    if (w.element_bytes != 0) break;
  }
  return combines_ && combined_bytes_ != over && (combinable() > 0 || combines_unequal());
}

// --- showing

/// True: all of it was shown.
bool shared_exchange::show_more() noexcept {
  if (!shows_) return true;
  if (!begun_) {
    if (!has_place() && !banks_.try_place(*this)) return false;
    begin_stream();
  }
  if (failed_before_ || lends()) return true;
  auto& l = banks_.line_of(team_.rank, number_);
  const auto before = shown_;
  for (std::int64_t bytes = 0; (bytes = room()) > 0;) {
    copy_piece(bytes);
    l.extend(static_cast<std::uint64_t>(shown_));
    if (before == 0 && shown_ < total_) wake_readers();
  }
  if (shown_ > before) {
    moved_ = true;
    wake_readers();
  }
  return shown_ == total_;
}

std::int64_t shared_exchange::whole_bytes_needed() const noexcept {
  constexpr std::int64_t line = 64;
  if (is_small() || failed_before_ || lends()) return 0;
  return (total_ + line - 1) / line * line;
}

void shared_exchange::begin_stream() noexcept {
  moved_ = begun_ = true;
  auto& l = banks_.line_of(team_.rank, number_);
  l.value.total = failed_before_ ? shared_banks::no_stream : static_cast<std::uint64_t>(total_);
  if (!is_small())
    l.value.longer = {
        .address = 0,
        .begin = static_cast<std::uint64_t>(begin_) | (in_ring_ ? place_of_value::in_ring : 0)};
  l.value.finished = banks_.finished();
  if (failed_before_) {
    shown_ = total_;
    l.publish(number_, 0);
  } else if (lends()) {
    l.value.longer.address = reinterpret_cast<std::uint64_t>(pieces_[0].from);
    shown_ = total_;
    l.publish(number_, l.value.total);
  } else {
    copy_piece(room());
    l.publish(number_, static_cast<std::uint64_t>(shown_));
  }
  wake_readers();
}

/// How many bytes can be shown now, at most a piece; not fewer than a piece, if more are left.
std::int64_t shared_exchange::room() const noexcept {
  if (in_ring_) return std::min(shared_banks::piece_bytes_max, total_ - shown_);
  const auto next = std::min(banks_.piece_bytes(), total_ - shown_);
  const auto behind = shown_ + next - banks_.bank_bytes();
  return behind <= 0 || banks_.taken({.exchange = counted_, .readers = readers_}) >= behind ? next
                                                                                            : 0;
}

/// `bytes` is not more than lies before the bank's end: a bank has whole pieces, and a stream that
/// goes round in it begins at its beginning.
void shared_exchange::copy_piece(std::int64_t bytes) noexcept {
  auto& l = banks_.line_of(team_.rank, number_);
  std::byte* to = l.value.small;
  if (in_ring_) to = banks_.ring(team_.rank) + begin_ + shown_;
  else if (!is_small()) to = banks_.bank(team_.rank) + begin_ + shown_ % banks_.bank_bytes();
  shown_ += bytes;
  while (bytes > 0) {
    const piece& p = pieces_[piece_];
    const auto copied = std::min(bytes, p.bytes - piece_shown_);
    if (!p.skipped)
      banks_.copy_for(p.reader).copy(to, p.from + piece_shown_, static_cast<std::size_t>(copied));
    to += copied;
    bytes -= copied;
    piece_shown_ += copied;
    if (piece_shown_ < p.bytes) continue;
    ++piece_;
    piece_shown_ = 0;
  }
}

// --- reading

bool shared_exchange::is_there(int rank) const noexcept {
  return banks_.line_of(rank, number_).holds(number_);
}

bool shared_exchange::is_in_ring(int rank) const noexcept {
  const auto& value = banks_.line_of(rank, number_).value;
  return value.total > sizeof value.small && (value.longer.begin & place_of_value::in_ring) != 0;
}

/// Whether the rank's stream, which is there, has the size that is due.
bool shared_exchange::is_due(int rank, std::int64_t bytes) const noexcept {
  return banks_.line_of(rank, number_).value.total == static_cast<std::uint64_t>(bytes);
}

/// Whether `take` would find something to do.
bool shared_exchange::could_take(const wanted& w) const noexcept {
  if (!is_there(w.rank)) return false;
  if (banks_.line_of(w.rank, number_).value.total == shared_banks::no_stream) return true;
  if (w.total == of_own_stream) return find_entry(w).bytes >= entry_bytes;
  return w.done == w.bytes || !is_due(w.rank, w.total) || find(w).bytes > 0;
}

/// Where the rank's stream is there.
bool shared_exchange::size_fits(int rank, std::int64_t due) noexcept {
  const auto& value = banks_.line_of(rank, number_).value;
  banks_.note_finished(rank, value.finished);
  const bool none = value.total == shared_banks::no_stream;
  const auto bytes = static_cast<std::int64_t>(value.total);
  if (!none && bytes > banks_.bank_bytes() && !is_in_ring(rank)) long_streams_ = true;
  if (!none && (bytes == due || due == of_own_stream)) [[likely]]
    return true;
  fail(!none && bytes > due ? outcome::truncated : outcome::failed, rank);
  return false;
}

shared_exchange::found shared_exchange::find(int rank, std::int64_t offset,
                                             std::int64_t bytes) const noexcept {
  const auto& l = banks_.line_of(rank, number_);
  if (l.value.total <= sizeof l.value.small) return {l.value.small + offset, 0, bytes};
  if (l.value.total == shared_banks::no_stream) return {};
  const place_of_value& where = l.value.longer;
  if (where.address != 0)
    return {nullptr, where.address + static_cast<std::uint64_t>(offset), bytes};
  const auto ready = static_cast<std::int64_t>(l.bytes_ready());
  if (is_in_ring(rank)) {
    const auto* stream = banks_.ring(rank) + (where.begin & ~place_of_value::in_ring);
    return {stream + offset, 0, std::clamp<std::int64_t>(ready - offset, 0, bytes)};
  }
  const auto at = offset % banks_.bank_bytes();
  const auto there = std::min({ready - offset, bytes, banks_.bank_bytes() - at});
  return {banks_.bank(rank) + where.begin + at, 0, std::max<std::int64_t>(there, 0)};
}

shared_exchange::found shared_exchange::find_entry(const wanted& w) const noexcept {
  return find(w.rank, entry_bytes * w.entry, entry_bytes);
}

/// The rest of what is wanted.
shared_exchange::found shared_exchange::find(const wanted& w) const noexcept {
  const auto bytes = w.bytes - w.done;
  if (w.address != 0) return {nullptr, w.address + static_cast<std::uint64_t>(w.done), bytes};
  return find(w.rank, w.offset + w.done, bytes);
}

bool shared_exchange::read(int rank, const found& f, std::byte* to, std::int64_t bytes) noexcept {
  if (f.here) {
    copy_bytes(to, f.here, bytes);
    return true;
  }
  if (team_.memory.copies->read(rank, f.there, {to, static_cast<std::size_t>(bytes)})) return true;
  fail(team_.via.lost(rank) ? outcome::peer_lost : outcome::failed, rank);
  return false;
}

/// True: there is nothing more to do for it.
bool shared_exchange::take(wanted& w) noexcept {
  if (w.done == over) return true;
  if (!is_there(w.rank)) return false;
  if (w.done == 0 && !size_fits(w.rank, w.total)) {
    w.done = over;
    return true;
  }
  if (w.total == of_own_stream && !find_own_part(w)) return w.done == over;
  if (!take_bytes(w)) return false;
  w.done = over;
  return true;
}

/// Reads the table. False: it is not there, or has another size for this rank.
bool shared_exchange::find_own_part(wanted& w) noexcept {
  const auto f = find_entry(w);
  if (f.bytes < entry_bytes) return false;
  entry own{};
  if (read(w.rank, f, reinterpret_cast<std::byte*>(&own), entry_bytes)) {
    w.offset = own.is_lent ? 0 : static_cast<std::int64_t>(own.place);
    w.address = own.is_lent ? own.place : 0;
    w.total = static_cast<std::int64_t>(banks_.line_of(w.rank, number_).value.total);
    const auto bytes = static_cast<std::int64_t>(own.bytes);
    if (bytes == w.bytes) return true;
    fail(bytes > w.bytes ? outcome::truncated : outcome::failed, w.rank);
  }
  w.done = over;
  return false;
}

/// True: all of it was taken.
bool shared_exchange::take_bytes(wanted& w) noexcept {
  while (w.done < w.bytes) {
    const auto f = find(w);
    auto bytes = std::min({f.bytes, budget_, f.here ? banks_.chunk_bytes() : advanced_at_once});
    if (w.element_bytes != 0)
      bytes = std::min(bytes, banks_.chunk_bytes()) / w.element_bytes * w.element_bytes;
    if (bytes <= 0) return false;
    budget_ -= bytes;
    moved_ = true;
    std::byte* const to = w.to + w.done;
    if (w.element_bytes == 0) {
      if (!read(w.rank, f, to, bytes)) return true;
    } else {
      if (!f.here && !read(w.rank, f, arriving_, bytes)) return true;
      op_.apply(op_, f.here ? f.here : arriving_, to, bytes / w.element_bytes);
    }
    w.done += bytes;
    if (long_streams_ && w.done < w.bytes) publish_taken();
  }
  return true;
}

/// How many more bytes of all streams are there, in one piece.
std::int64_t shared_exchange::combinable() const noexcept {
  auto bytes = combined_.bytes - combined_bytes_;
  for (int rank = combined_.first; rank <= combined_.last; ++rank) {
    if (rank == team_.rank) continue;
    if (!is_there(rank)) return 0;
    bytes = std::min(bytes, find(rank, combined_bytes_, bytes).bytes);
  }
  return bytes;
}

/// All streams are there, and one has another size than is due.
bool shared_exchange::combines_unequal() const noexcept {
  bool equal = true;
  for (int rank = combined_.first; rank <= combined_.last; ++rank) {
    if (rank == team_.rank) continue;
    if (!is_there(rank)) return false;
    equal = equal && is_due(rank, combined_.bytes);
  }
  return !equal;
}

bool shared_exchange::take_combined() noexcept {
  if (combined_bytes_ == over) return true;
  bool fits = true;
  for (int rank = combined_.first; rank <= combined_.last; ++rank)
    if (rank != team_.rank && !is_there(rank)) return false;
  for (int rank = combined_.first; combined_bytes_ == 0 && rank <= combined_.last; ++rank)
    if (rank != team_.rank) fits = size_fits(rank, combined_.bytes) && fits;
  while (fits && how_ == outcome::ok && combined_bytes_ < combined_.bytes) {
    const auto there = std::min(combinable(), banks_.chunk_bytes());
    const auto bytes = there / combined_.element_bytes * combined_.element_bytes;
    if (bytes == 0 || budget_ <= 0) return false;
    moved_ = true;
    combine_chunk(bytes);
    combined_bytes_ += bytes;
    if (long_streams_) publish_taken();
  }
  combined_bytes_ = over;
  return true;
}

/// The operator's right side is the sum so far, its left side what is earlier in the order of
/// ranks.
void shared_exchange::combine_chunk(std::int64_t bytes) noexcept {
  auto* const result = static_cast<std::byte*>(combined_.to) + combined_bytes_;
  std::byte* const sum = sum_ ? sum_ : result;
  for (int rank = combined_.last; rank >= combined_.first; --rank) {
    const bool first = rank == combined_.last;
    const std::byte* next = static_cast<const std::byte*>(combined_.own) + combined_bytes_;
    if (rank != team_.rank) {
      const auto f = find(rank, combined_bytes_, bytes);
      budget_ -= bytes;
      next = f.here ? f.here : first ? sum : arriving_;
      if (!f.here && !read(rank, f, first ? sum : arriving_, bytes)) return;
    }
    if (!first) combined_.op.apply(combined_.op, next, sum, bytes / combined_.element_bytes);
    else if (next != sum) copy_bytes(sum, next, bytes);
  }
  if (sum != result) copy_bytes(result, sum, bytes);
}

std::int64_t shared_exchange::taken_of(int rank) const noexcept {
  if (failed_before_) return all_of_it;
  if (is_there(rank) && is_in_ring(rank)) return published_[rank];  // its owner does not ask
  if (combines_ && combined_.first <= rank && rank <= combined_.last)
    return combined_bytes_ == over ? all_of_it : combined_bytes_;
  auto least = all_of_it;
  for (int i = 0; i < wanted_count_; ++i) {
    const wanted& w = wanted_[i];
    if (w.rank != rank || w.done == over || w.address != 0) continue;
    least = std::min(least, w.total == of_own_stream ? entry_bytes * w.entry : w.offset + w.done);
  }
  return least;
}

bool shared_exchange::has_to_publish() const noexcept {
  if (at_ != stage::working || !long_streams_) return false;
  for (int rank = 0; rank < team_.size; ++rank)
    if (rank != team_.rank && taken_of(rank) != published_[rank]) return true;
  return false;
}

/// Publishes how far the streams of others were read, so that they may go on.
void shared_exchange::publish_taken() noexcept {
  if (!banks_.is_oldest_of_line(*this)) return;
  auto& reading = banks_.page_of(team_.rank).read;
  const auto line = shared_banks::line_number(number_);
  for (int rank = 0; rank < team_.size; ++rank) {
    const auto taken = taken_of(rank);
    if (rank == team_.rank || taken == published_[rank]) continue;
    if (!std::exchange(publishes_taken_, true)) reading.begin(line, counted_);
    moved_ = true;
    published_[rank] = taken;
    reading.take(line, static_cast<std::size_t>(rank), static_cast<std::uint64_t>(taken));
    banks_.wake(rank);
  }
}

// --- failures, and other ranks' sleep

void shared_exchange::fail(outcome how, int rank) noexcept {
  if (how_ != outcome::ok) return;
  how_ = how;
  failed_rank_ = rank;
}

/// Something of what this exchange waits for will not come.
void shared_exchange::give_up(outcome why, int rank) noexcept {
  fail(why, rank);
  if (at_ == stage::working) banks_.finish(*this);
  at_ = stage::ended;
}

void shared_exchange::wake_readers() noexcept { banks_.wake_all(readers_); }

/// Those that this rank reads from may wait for that.
void shared_exchange::wake_writers() noexcept { banks_.wake_all(sources_); }

}  // namespace headway::collectives
