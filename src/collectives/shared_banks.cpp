#include "collectives/shared_banks.hpp"

#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/fence.hpp"
#include "base/lock_guard.hpp"
#include "base/prefetch_for_writing.hpp"
#include "collectives/shared_exchange.hpp"

namespace headway::collectives {

shared_banks::poll_task::poll_task(shared_banks& of) noexcept
    : ltask("exchange in shared memory",
            [](ltask& self) noexcept { return static_cast<poll_task&>(self).owner.poll(); }),
      owner(of) {}

shared_banks::shared_banks(team& ranks, rails::shm_slots& slots,
                           std::span<const rails::peer_id> processes,
                           const bank_memory::location& where)
    : team_(ranks), memory_(ranks.rank, slots, processes, where), task_(*this) {
  HEADWAY_ASSERT(memory_.size() == ranks.size);
  slots.watch(*this);
}

shared_banks::~shared_banks() { memory_.slots().unwatch(*this); }

void shared_banks::bind(shared_exchange& x) noexcept {
  const base::lock_guard guard(lock_);
  HEADWAY_DEBUG_ASSERT(x.counted() > last_bound_ || x.counted() == last_in_line_);
  last_bound_ = x.counted();
  open_.push_back(x);
  if (x.counted() == last_in_line_) x.stream().take_over_line();
  else if (x.stream().exists()) place_if_possible(x);
}

bool shared_banks::has_line(const shared_exchange& x) noexcept {
  for (auto* earlier = open_.front(); earlier != &x; earlier = open_.after(*earlier))
    if (earlier->stream().exists() && !earlier->stream().has_place()) return false;
  return shown_.is_line_free(x.counted());
}

bool shared_banks::may_place(const shared_exchange& x) noexcept {
  return has_line(x) && shown_.has_bytes(x.stream().bank_bytes_needed());
}

bool shared_banks::try_place(shared_exchange& x) noexcept {
  const base::lock_guard guard(lock_);
  place_if_possible(x);
  return x.stream().has_place();
}

void shared_banks::place_if_possible(shared_exchange& x) noexcept {
  if (!has_line(x)) return;
  auto& stream = x.stream();
  if (stream.take_area() || stream.take_of_ring()) {
    shown_.add(x.counted(), stream.readers());
    return;
  }
  const auto bytes = stream.bank_bytes_needed();
  if (shown_.has_bytes(bytes))
    stream.place_in_bank(shown_.add(x.counted(), stream.readers(), bytes));
}

bool shared_banks::try_show_in_line(const exchange_numbers& operation,
                                    std::span<const std::byte> stream, rank_set readers) noexcept {
  const auto number = operation.counted;
  {
    const base::lock_guard guard(lock_);
    if (!open_.empty() || !shown_.is_line_free(number)) return false;
    shown_.add(number, readers);
    last_bound_ = last_in_line_ = number;
  }
  auto& own = memory_.line_of(team_.rank, number);
  own.value.total = stream.size();
  own.value.finished = finished();
  std::memcpy(own.value.small, stream.data(), stream.size());
  own.publish(operation.in_line, stream.size());
  memory_.wake_all(readers, true);
  return true;
}

const std::byte* shared_banks::find_in_line(int rank, const exchange_numbers& operation,
                                            std::int64_t bytes) noexcept {
  const auto& its = memory_.line_of(rank, operation.counted);
  if (!its.holds(operation.in_line) || its.value.total != static_cast<std::uint64_t>(bytes))
    return nullptr;
  readers_.note_finished(rank, its.value.finished);
  return its.value.small;
}

/// The lock is not needed: no other exchange is open, and none begins during a blocking call.
void shared_banks::finish_in_line(const exchange_numbers& operation, rank_set sources) noexcept {
  tell_finished(operation.counted);
  memory_.wake_all(sources, true);
}

void shared_banks::tell_finished(std::uint64_t exchange) noexcept {
  own_finished_.note(exchange);
  memory_.reading_of(team_.rank).finish(exchange);
  base::prefetch_for_writing(memory_.line_behind(exchange));
}

void shared_banks::finish(shared_exchange& x) noexcept {
  const base::lock_guard guard(lock_);
  open_.erase(x);
  x.keep_passed_area();
  const auto* oldest = open_.front();
  const auto now = oldest ? oldest->counted() - 1 : last_bound_;
  if (now == finished()) return;
  tell_finished(now);
}

bool shared_banks::is_oldest(std::uint64_t exchange) noexcept {
  auto* oldest = open_.front();
  while (oldest &&
         bank_memory::line_number(oldest->counted()) != bank_memory::line_number(exchange))
    oldest = open_.after(*oldest);
  return oldest && oldest->counted() == exchange;
}

bool shared_banks::is_oldest_of_line(std::uint64_t exchange) noexcept {
  const base::lock_guard guard(lock_);
  return is_oldest(exchange);
}

/// A thread that is about to sleep on the rail first makes the others wake it for what they show,
/// then passes a fence, and then looks into the list. Either it finds `x` there, and looks for what
/// was shown; or it has held the lock before this function did, and then the look here comes behind
/// that fence, too: it finds what was shown without waking that thread.
/// Checked by tests/model/pending_exchange_model.cpp.
void shared_banks::pend(shared_exchange& x) noexcept {
  bool first = false;
  {
    const base::lock_guard guard(lock_);
    pending_.push_back(x);
    first = !std::exchange(polled_, true);
  }
  if (first) {
    team_.log.waiting_begins();
    team_.via.submit(*this);
  }
  if (any_could_go_on()) team_.via.look_now();
}

int shared_banks::lost_rank() const noexcept {
  for (int rank = 0; rank < team_.size; ++rank)
    if (rank != team_.rank && team_.via.lost(team_.bound_rank(rank))) return rank;
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
