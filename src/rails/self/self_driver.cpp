#include "rails/self/self_driver.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"

namespace headway::rails::self {

limits self_driver::query() const noexcept {
  return {.name = "self",
          .header_bytes_max = header_bytes_max,
          .eager_bytes_max = eager_bytes_max,
          .inline_bytes_max = eager_bytes_max,
          .poll_cost_ns = 10,
          .latency_ns = 50,
          .wakes = true,
          .silent = true};
}

base::result<std::vector<std::byte>> self_driver::open() {
  bell_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (bell_ < 0) return base::failed_errno("eventfd", errno);
  slots_ = std::make_unique_for_overwrite<slot[]>(slot_count);
  const base::lock_guard guard(lock_);
  open_ = true;
  return std::vector<std::byte>{};  // no other process has to find it
}

base::result<> self_driver::connect(peer_id peer, std::span<const std::byte>) {
  if (peer != me_)
    return base::failed(base::fault_kind::unsupported, "self: reaches this process only");
  return {};
}

post self_driver::send(peer_id peer, const packet& what) noexcept {
  if (peer != me_) return post::down;
  HEADWAY_DEBUG_ASSERT(what.header.size() <= header_bytes_max);
  HEADWAY_DEBUG_ASSERT(what.payload.size() <= eager_bytes_max);
  std::uint64_t number;
  bool full;
  bool asleep = false;
  {
    const base::lock_guard guard(lock_);
    if (!open_) return post::down;
    full = sent_ - released_ == slot_count;
    if (full) {  // nothing can wait any longer
      hurried_ = sent_;
      asleep = end_sleep();
    }
    number = sent_;
  }
  if (full) {
    ring_if(asleep);
    return post::retry;
  }
  // The slot is not in use until sent_ is increased, because one thread at a time sends to one
  // peer.
  std::byte* to = slots_[number % slot_count].data();
  std::ranges::copy(what.header, to);
  std::ranges::copy(what.payload, to + what.header.size());
  slot_bytes_[number % slot_count] = what.header.size() + what.payload.size();
  {
    const base::lock_guard guard(lock_);
    sent_ = number + 1;
    unfinished_.fetch_add(1, std::memory_order_relaxed);
    if (sleep_ == sleep::all) asleep = end_sleep();
  }
  ring_if(asleep);
  return post::done;
}

// ---- memory -------------------------------------------------------------------------------------

memory_limits self_driver::limits_to(peer_id peer) const noexcept {
  const bool mine = peer == me_;
  return {.put = mine, .get = mine, .atomic = mine, .flush = mine, .notifies = true};
}

base::result<ticket> self_driver::expose(const exposure& what) noexcept {
  return exposed_.expose(what);
}

void self_driver::withdraw(const ticket& exposed) noexcept { exposed_.remove(exposed.id); }

post self_driver::put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                      std::uint64_t cookie) noexcept {
  if (peer != me_) return post::down;
  if (from.empty()) return post::done;
  bool asleep = false;
  {
    const base::lock_guard guard(lock_);
    if (!open_) return post::down;
    if (posted_sent_ - posted_done_ == slot_count) return post::retry;
    posted_[posted_sent_++ % slot_count] = {to.exposed.id, to.offset, from, cookie};
    unfinished_.fetch_add(1, std::memory_order_relaxed);
    if (sleep_ == sleep::all) asleep = end_sleep();
  }
  ring_if(asleep);
  return post::posted;
}

post self_driver::get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                      std::uint64_t) noexcept {
  const auto said = exposed_.read(peer, from.exposed.id, from.offset, to);
  return said.what == exposures::answer::done ? post::done : post::down;
}

post self_driver::atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                         std::uint64_t& before, std::uint64_t) noexcept {
  const auto said = exposed_.change(peer, at, what, before);
  return said.what == exposures::answer::done ? post::done : post::down;
}

// ---- reaping ------------------------------------------------------------------------------------

std::size_t self_driver::reap(std::span<event> out) noexcept {
  // Reads a hint first, because most processes never send to themselves. A send that is missed here
  // is seen in the next round; before a sleep, `arm` looks under the lock.
  if (unfinished_.load(std::memory_order_relaxed) == 0) return 0;
  lock_.lock();
  if (!open_) [[unlikely]] {
    lock_.unlock();
    return last_.report(out);
  }
  const bool large = posted_done_ < posted_sent_;
  const std::uint64_t first = reaped_;
  const std::uint64_t last = std::min<std::uint64_t>(sent_, first + out.size());
  reaped_ = last;
  lock_.unlock();

  std::size_t count = 0;
  for (std::uint64_t number = first; number < last; ++number, ++count) {
    const std::size_t at = number % slot_count;
    out[count] = {.kind = event_kind::received,
                  .peer = me_,
                  .bytes = std::span(slots_[at].data(), slot_bytes_[at])};
  }
  unfinished_.fetch_sub(count, std::memory_order_relaxed);
  if (large) count += move_piece(out.subspan(count));
  return count;
}

std::size_t self_driver::move_piece(std::span<event> out) noexcept {
  const posted_put& p = posted_[posted_done_ % slot_count];  // only `reap` changes posted_done_
  const std::size_t bytes = std::min(piece_bytes, p.from.size() - moved_bytes_);
  std::size_t count = 0;
  if (bytes > 0 && out.size() > 0) {
    const auto said =
        exposed_.write(me_, p.id, p.offset + moved_bytes_, p.from.subspan(moved_bytes_, bytes));
    // a defect of ours, not of a peer
    HEADWAY_ASSERT(said.what != exposures::answer::out_of_bounds);
    moved_bytes_ += bytes;
    if (said.what == exposures::answer::done && exposures::notified(p.id))
      out[count++] = {
          .kind = event_kind::landed, .peer = me_, .count = bytes, .cookie = said.token};
  }
  if (moved_bytes_ < p.from.size() || count == out.size()) return count;
  out[count++] = {.kind = event_kind::sent, .peer = me_, .cookie = p.cookie};
  moved_bytes_ = 0;
  const base::lock_guard guard(lock_);
  ++posted_done_;
  unfinished_.fetch_sub(1, std::memory_order_relaxed);
  return count;
}

void self_driver::release(const event&) noexcept {
  const base::lock_guard guard(lock_);
  HEADWAY_DEBUG_ASSERT(released_ < reaped_);
  ++released_;  // events are released in the order in which they were reported
}

bool self_driver::arm(bool sleeping) noexcept {
  if (sleeping) return arm_for(sleep::all);
  const base::lock_guard guard(lock_);
  sleep_ = sleep::none;
  return true;
}

bool self_driver::arm_for(sleep what) noexcept {
  const base::lock_guard guard(lock_);
  // A ring of a moment ago may still be on its way: then it is drained the next time.
  std::uint64_t rings;
  if (rang_ && read(bell_, &rings, sizeof rings) == sizeof rings) rang_ = false;
  const bool something =
      what == sleep::all ? reaped_ < sent_ || posted_done_ < posted_sent_ : reaped_ < hurried_;
  sleep_ = something ? sleep::none : what;
  return !something;
}

/// True: the caller must ring, after it has released the lock.
bool self_driver::end_sleep() noexcept {
  const bool asleep = std::exchange(sleep_, sleep::none) != sleep::none;
  rang_ = rang_ || asleep;
  return asleep;
}

void self_driver::ring_if(bool asleep) noexcept {
  const std::uint64_t one = 1;
  // It fails only if the counter would overflow; then the descriptor is readable anyway.
  if (asleep) [[maybe_unused]]
    const auto written = write(bell_, &one, sizeof one);
}

void self_driver::tick(std::uint64_t) noexcept {}  // there is no health to check

void self_driver::close() noexcept {
  {
    const base::lock_guard guard(lock_);
    if (!std::exchange(open_, false)) return;
  }
  std::array<event, 2> late;
  const auto unfinished_puts = [this] {
    const base::lock_guard guard(lock_);
    return posted_done_ < posted_sent_;
  };
  while (unfinished_puts()) last_.keep(std::span(late).first(move_piece(late)));
  unfinished_.store(1, std::memory_order_relaxed);  // `reap` must report the kept events
  ::close(std::exchange(bell_, -1));
}

}  // namespace headway::rails::self
