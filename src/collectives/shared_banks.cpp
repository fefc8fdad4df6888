#include "collectives/shared_banks.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/assert.hpp"
#include "base/fence.hpp"
#include "base/lock_guard.hpp"
#include "collectives/shared_exchange.hpp"

namespace headway::collectives {

shared_banks::poll_task::poll_task(shared_banks& of) noexcept
    : ltask("exchange in shared memory",
            [](ltask& self) noexcept { return static_cast<poll_task&>(self).owner.poll(); }),
      owner(of) {}

shared_banks::shared_banks(team& ranks, rails::shm_slots& memory,
                           std::span<const rails::peer_id> processes, const location& where)
    : team_(ranks),
      memory_(memory),
      processes_(processes.begin(), processes.end()),
      page_at_(where.page_at),
      bank_at_(where.bank_at),
      ring_(where.ring),
      bank_bytes_(where.bytes),
      piece_bytes_(std::min(where.bytes / 4, piece_bytes_max)),
      finished_(std::make_unique<std::atomic<std::uint64_t>[]>(processes.size())),
      copies_(std::make_unique<base::copy_for_reader[]>(processes.size() + 1)),
      task_(*this) {
  HEADWAY_ASSERT(ranks.size <= ranks_max);
  HEADWAY_ASSERT(where.bytes >= 256 && where.bank_at + static_cast<std::size_t>(where.bytes) <=
                                           rails::shm_slots::banked_bytes);
  HEADWAY_ASSERT(processes.size() == static_cast<std::size_t>(ranks.size));
  for (const auto process : processes_) areas_.push_back(memory.bank_of(process, where.slot));
  memory_.watch(*this);
}

shared_banks::~shared_banks() { memory_.unwatch(*this); }

void shared_banks::move_to(std::size_t page_at, std::size_t bank_at) noexcept {
  HEADWAY_ASSERT(page_at + page_bytes <= rails::shm_slots::banked_bytes &&
                 bank_at + static_cast<std::size_t>(bank_bytes_) <= rails::shm_slots::banked_bytes);
  page_at_ = page_at;
  bank_at_ = bank_at;
}

bool shared_banks::has_finished(int rank, std::uint64_t exchange) noexcept {
  if (finished_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire) >= exchange)
    return true;
  const auto now = page_of(rank).read.finished();
  note_finished(rank, now);
  return now >= exchange;
}

bool shared_banks::is_known_as_read(const shown& earlier) const noexcept {
  return all_of(earlier.readers, [&](int rank) {
    return finished_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire) >=
           earlier.exchange;
  });
}

bool shared_banks::is_read(const shown& earlier) noexcept {
  return all_of(earlier.readers, [&](int rank) { return has_finished(rank, earlier.exchange); });
}

std::int64_t shared_banks::taken(const shown& what) noexcept {
  auto least = std::numeric_limits<std::int64_t>::max();
  each_of(what.readers, [&](int rank) {
    if (has_finished(rank, what.exchange)) return;
    const auto bytes = page_of(rank).read.taken_of(
        line_number(what.exchange), static_cast<std::size_t>(team_.rank), what.exchange);
    least = std::min(least, static_cast<std::int64_t>(bytes));
  });
  return least;
}

void shared_banks::bind(shared_exchange& x) noexcept {
  const base::lock_guard guard(lock_);
  HEADWAY_DEBUG_ASSERT(x.counted() > last_bound_ || x.counted() == last_in_line_);
  last_bound_ = x.counted();
  open_.push_back(x);
  if (x.counted() == last_in_line_) x.stream().take_over_line();
  else if (x.stream().exists()) place_if_possible(x);
}

/// How much of the bank streams of so many bytes go round in: at least two places, because there are
/// two lines.
std::int64_t shared_banks::used_by(std::int64_t bytes) const noexcept {
  return std::min(std::max(used_bytes_, 2 * bytes), bank_bytes_);
}

/// Each stream in one piece, but for those that fill the bank.
std::int64_t shared_banks::next_begin(std::int64_t bytes) const noexcept {
  return next_byte_ + bytes <= used_by(bytes) ? next_byte_ : 0;
}

/// A page that a rank reads for the first time costs it a page fault, which takes longer than to
/// read what is in it. So the first streams go round in few pages, and more are used as more
/// follow; all ranks together use no more than the caches hold that they share.
void shared_banks::gone_round() noexcept {
  constexpr int rounds = 8;
  constexpr std::int64_t of_all_ranks = 4 * 1024 * 1024;
  const auto most = std::min(bank_bytes_, of_all_ranks / team_.size);
  if (++rounds_ % rounds == 0) used_bytes_ = std::max(used_bytes_, std::min(2 * used_bytes_, most));
}

/// What readers have finished is mostly known from their next lines, which this rank reads anyway.
/// Where they write it down is looked up only if something depends on it: that line then moves from
/// core to core.
bool shared_banks::has_line(const shared_exchange& x) noexcept {
  for (auto* earlier = open_.front(); earlier != &x; earlier = open_.after(*earlier))
    if (earlier->stream().exists() && !earlier->stream().has_place()) return false;
  return is_line_free(x.counted());
}

bool shared_banks::is_line_free(std::uint64_t exchange) noexcept {
  while (shown_count_ > 0 && (is_known_as_read(shown_[first_shown_]) ||
                              (shown_count_ == shown_max && is_read(shown_[first_shown_])))) {
    first_shown_ = (first_shown_ + 1) % shown_max;
    --shown_count_;
  }
  if (shown_count_ == shown_max) return false;
  for (std::size_t i = 0; i < shown_count_; ++i) {
    const shown& other = shown_[(first_shown_ + i) % shown_max];
    if (line_number(other.exchange) == line_number(exchange) && !is_read(other)) return false;
  }
  return true;
}

bool shared_banks::has_bytes(std::int64_t bytes) noexcept {
  const auto begin = next_begin(bytes);
  for (std::size_t i = 0; i < shown_count_; ++i) {
    const shown& other = shown_[(first_shown_ + i) % shown_max];
    if (begin < other.end && other.begin < begin + bytes && !is_read(other)) return false;
  }
  return true;
}

bool shared_banks::may_place(const shared_exchange& x) noexcept {
  return has_line(x) && has_bytes(x.stream().bank_bytes_needed());
}

bool shared_banks::try_place(shared_exchange& x) noexcept {
  const base::lock_guard guard(lock_);
  place_if_possible(x);
  return x.stream().has_place();
}

void shared_banks::place_if_possible(shared_exchange& x) noexcept {
  if (!has_line(x)) return;
  auto& stream = x.stream();
  const auto bytes = stream.bank_bytes_needed();
  std::optional<std::int64_t> in_ring;
  if (ring_ && bytes > 0)
    in_ring = ring_->take({page_at_, x.counted(), stream.readers()}, stream.whole_bytes_needed());
  if (in_ring) {
    stream.place(*in_ring, true);
    note_shown({.exchange = x.counted(), .readers = stream.readers()});
  } else if (has_bytes(bytes)) {
    const auto begin = next_begin(bytes);
    if (begin < next_byte_) gone_round();
    next_byte_ = begin + bytes;
    stream.place(begin, false);
    note_shown({x.counted(), stream.readers(), begin, next_byte_});
  }
}

void shared_banks::note_shown(const shown& what) noexcept {
  shown_[(first_shown_ + shown_count_++) % shown_max] = what;
}

bool shared_banks::try_show_in_line(const numbers& operation, std::span<const std::byte> stream,
                                    rank_set readers) noexcept {
  const auto number = operation.counted;
  {
    const base::lock_guard guard(lock_);
    if (!open_.empty() || !is_line_free(number)) return false;
    note_shown({.exchange = number, .readers = readers});
    last_bound_ = last_in_line_ = number;
  }
  line& own = line_of(team_.rank, number);
  own.value.total = stream.size();
  own.value.finished = finished();
  std::memcpy(own.value.small, stream.data(), stream.size());
  own.publish(operation.in_line, stream.size());
  wake_all(readers);
  return true;
}

const std::byte* shared_banks::find_in_line(int rank, const numbers& operation,
                                            std::int64_t bytes) noexcept {
  const line& its = line_of(rank, operation.counted);
  if (!its.holds(operation.in_line) || its.value.total != static_cast<std::uint64_t>(bytes))
    return nullptr;
  note_finished(rank, its.value.finished);
  return its.value.small;
}

/// The lock is not needed: no other exchange is open, and none begins during a blocking call.
void shared_banks::finish_in_line(const numbers& operation, rank_set sources) noexcept {
  tell_finished(operation.counted);
  wake_all(sources);
}

void shared_banks::tell_finished(std::uint64_t exchange) noexcept {
  own_finished_.store(exchange, std::memory_order_relaxed);  // written by this process alone
  page_of(team_.rank).read.finish(exchange);
}

void shared_banks::finish(shared_exchange& x) noexcept {
  const base::lock_guard guard(lock_);
  open_.erase(x);
  const auto* oldest = open_.front();
  const auto now = oldest ? oldest->counted() - 1 : last_bound_;
  if (now == own_finished_.load(std::memory_order_relaxed)) return;
  tell_finished(now);
}

bool shared_banks::is_oldest(std::uint64_t exchange) noexcept {
  auto* oldest = open_.front();
  while (oldest && line_number(oldest->counted()) != line_number(exchange))
    oldest = open_.after(*oldest);
  return oldest && oldest->counted() == exchange;
}

bool shared_banks::is_oldest_of_line(std::uint64_t exchange) noexcept {
  const base::lock_guard guard(lock_);
  return is_oldest(exchange);
}

void shared_banks::pend(shared_exchange& x) noexcept {
  bool first = false;
  {
    const base::lock_guard guard(lock_);
    pending_.push_back(x);
    first = !std::exchange(polled_, true);
  }
  if (!first) return;
  team_.log.waiting_begins();
  team_.via.submit(*this);
}

int shared_banks::lost_rank() const noexcept {
  for (int rank = 0; rank < team_.size; ++rank)
    if (rank != team_.rank && team_.via.lost(rank)) return rank;
  return -1;
}

/// Edge (W): before a thread sleeps on the rail, `ready` checks every exchange in `pending_`. One
/// that this function is advancing is not in that list. So this function checks again, behind a
/// fence, after it has put the exchange back: it reads what was shown before the sleeping thread
/// could be woken for it.
progress::ltask_result shared_banks::poll() noexcept {
  base::intrusive_list<shared_exchange, pending_tag> in_hand;
  {
    const base::lock_guard guard(lock_);
    in_hand.append(pending_);
  }
  base::intrusive_list<shared_exchange, pending_tag> waiting, ended;
  bool moved = false;
  while (auto* x = in_hand.pop_front()) {
    bool ends = x->poll(moved);
    if (const int lost = ends ? -1 : lost_rank(); lost >= 0) {
      // What the rank showed before it died counts.
      if (!x->poll(moved)) x->give_up(messages::outcome::peer_lost, lost);
      ends = true;
    } else if (!ends && team_.log.is_broken()) {
      x->give_up(messages::outcome::failed, team_.rank);
      ends = true;
    }
    (ends ? ended : waiting).push_back(*x);
  }
  auto result = moved ? progress::ltask_result::advanced : progress::ltask_result::idle;
  bool any_waits = true;
  {
    const base::lock_guard guard(lock_);
    pending_.append(waiting);
    any_waits = !pending_.empty();
    polled_ = any_waits;
  }
  if (any_waits) {
    base::store_load_fence();
    if (any_could_go_on()) result = progress::ltask_result::advanced;
  } else {
    team_.log.waiting_ends();
    result = progress::ltask_result::done;
  }
  // The end of the last exchange may let a thread destroy this object.
  while (auto* x = ended.pop_front()) x->tell_end();
  return result;
}

bool shared_banks::any_could_go_on() noexcept {
  const base::lock_guard guard(lock_);
  for (auto* x = pending_.front(); x; x = pending_.after(*x))
    if (x->waits_for_place() ? may_place(*x)
                             : x->could_go_on() || (x->has_to_publish() && is_oldest(x->counted())))
      return true;
  return false;
}

bool shared_banks::ready() const noexcept {
  // It only drops entries of `shown_` that are no longer read, which no caller can notice.
  return const_cast<shared_banks*>(this)->any_could_go_on();
}

}  // namespace headway::collectives
