#include "rails/self/self_driver.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/assert.hpp"

namespace headway::rails::self {

limits self_driver::query() const noexcept {
  return {.name = "self",
          .header_bytes_max = header_bytes_max,
          .eager_bytes_max = eager_bytes_max,
          .inline_bytes_max = eager_bytes_max,
          .poll_cost_ns = 10,
          .latency_ns = 50,
          .wakes = true};
}

base::result<std::vector<std::byte>> self_driver::open() {
  bell_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (bell_ < 0) return base::failed_errno("eventfd", errno);
  rooms_ = std::make_unique_for_overwrite<room[]>(slot_count);
  open_ = true;
  return std::vector<std::byte>{};  // nobody else needs to find us
}

base::result<> self_driver::connect(peer_id peer, std::span<const std::byte>) {
  if (peer != me_)
    return base::failed(base::fault_kind::unsupported, "self: reaches this process only");
  return {};
}

post self_driver::send(peer_id peer, const packet& what) noexcept {
  if (peer != me_) return post::down;
  return what.landing == landing_id::none ? take_eager(what) : take_posted(what);
}

post self_driver::take_eager(const packet& what) noexcept {
  HEADWAY_DEBUG_ASSERT(what.header.size() <= header_bytes_max);
  HEADWAY_DEBUG_ASSERT(what.payload.size() <= eager_bytes_max);
  std::uint64_t ticket;
  {
    const std::lock_guard guard(lock_);
    if (!open_) return post::down;
    if (eager_sent_ - eager_released_ == slot_count) return post::retry;
    ticket = eager_sent_;
  }
  // The slot is ours until eager_sent_ says otherwise: one thread at a time sends to one peer.
  std::byte* to = rooms_[ticket % slot_count].data();
  std::ranges::copy(what.header, to);
  std::ranges::copy(what.payload, to + what.header.size());
  room_bytes_[ticket % slot_count] = what.header.size() + what.payload.size();
  lock_.lock();
  eager_sent_ = ticket + 1;
  unfinished_.fetch_add(1, std::memory_order_relaxed);
  const bool asleep = std::exchange(sleeping_, false);
  lock_.unlock();
  ring_if_asleep(asleep);
  return post::done;
}

post self_driver::take_posted(const packet& what) noexcept {
  HEADWAY_DEBUG_ASSERT(what.header.empty());
  bool asleep = false;
  {
    const std::lock_guard guard(lock_);
    if (!open_) return post::down;
    if (posted_sent_ - posted_done_ == slot_count) return post::retry;
    posted_[posted_sent_++ % slot_count] = what;
    unfinished_.fetch_add(1, std::memory_order_relaxed);
    asleep = std::exchange(sleeping_, false);
  }
  ring_if_asleep(asleep);
  return post::posted;
}

bool self_driver::land(peer_id peer, landing_id id, std::span<std::byte> target) noexcept {
  return zones_.open(peer, id, target);
}

void self_driver::unland(landing_id id) noexcept { zones_.close(id); }

std::size_t self_driver::reap(std::span<event> out) noexcept {
  // Every polling round comes by here, and most processes never send to themselves. A send that is
  // not seen yet is seen next time; before a sleep, `arm` looks under the lock.
  if (unfinished_.load(std::memory_order_relaxed) == 0) return 0;
  lock_.lock();
  if (!open_) [[unlikely]] {
    lock_.unlock();
    return last_.report(out);
  }
  const bool large = posted_done_ < posted_sent_;
  const std::uint64_t first = eager_reaped_;
  const std::uint64_t last = std::min<std::uint64_t>(eager_sent_, first + out.size());
  eager_reaped_ = last;
  lock_.unlock();

  std::size_t count = 0;
  for (std::uint64_t ticket = first; ticket < last; ++ticket, ++count) {
    const std::size_t slot = ticket % slot_count;
    out[count] = {.kind = event_kind::received,
                  .peer = me_,
                  .bytes = std::span(rooms_[slot].data(), room_bytes_[slot])};
  }
  unfinished_.fetch_sub(count, std::memory_order_relaxed);
  if (large) count += move_piece(out.subspan(count));
  return count;
}

std::size_t self_driver::move_piece(std::span<event> out) noexcept {
  const packet& p = posted_[posted_done_ % slot_count];  // only `reap` changes posted_done_
  const std::size_t bytes = std::min(piece_bytes, p.payload.size() - moved_bytes_);
  std::size_t count = 0;
  if (bytes > 0 && out.size() > 0) {
    const auto said = zones_.write(me_, p.landing, p.offset + moved_bytes_,
                                   p.payload.subspan(moved_bytes_, bytes));
    HEADWAY_ASSERT(said != landing_zones::answer::out_of_bounds);  // our own bug, not a peer's
    moved_bytes_ += bytes;
    if (said == landing_zones::answer::written)
      out[count++] = {
          .kind = event_kind::landed, .peer = me_, .landing = p.landing, .count = bytes};
  }
  if (moved_bytes_ < p.payload.size() || count == out.size()) return count;
  out[count++] = {.kind = event_kind::sent, .peer = me_, .cookie = p.cookie};
  moved_bytes_ = 0;
  const std::lock_guard guard(lock_);
  ++posted_done_;
  unfinished_.fetch_sub(1, std::memory_order_relaxed);
  return count;
}

void self_driver::release(const event&) noexcept {
  const std::lock_guard guard(lock_);
  HEADWAY_DEBUG_ASSERT(eager_released_ < eager_reaped_);
  ++eager_released_;  // events come back in the order in which they went out
}

bool self_driver::arm(bool sleeping) noexcept {
  std::uint64_t rings;
  if (sleeping) [[maybe_unused]]
    const auto drained = read(bell_, &rings, sizeof rings);
  const std::lock_guard guard(lock_);
  const bool something = eager_reaped_ < eager_sent_ || posted_done_ < posted_sent_;
  sleeping_ = sleeping && !something;
  return !sleeping || sleeping_;
}

void self_driver::ring_if_asleep(bool asleep) noexcept {
  const std::uint64_t one = 1;
  // Fails only when the counter is about to overflow, and then it is readable anyway.
  if (asleep) [[maybe_unused]]
    const auto written = write(bell_, &one, sizeof one);
}

void self_driver::tick(std::uint64_t) noexcept {}  // as healthy as the caller

void self_driver::close() noexcept {
  {
    const std::lock_guard guard(lock_);
    if (!std::exchange(open_, false)) return;
  }
  std::array<event, 2> late;
  while (posted_done_ < posted_sent_) last_.keep(std::span(late).first(move_piece(late)));
  unfinished_.store(1, std::memory_order_relaxed);  // `reap` must look at what is kept
  ::close(std::exchange(bell_, -1));
}

}  // namespace headway::rails::self
