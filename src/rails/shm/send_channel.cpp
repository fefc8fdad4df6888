#include "rails/shm/send_channel.hpp"

#include "base/bytes_of.hpp"
#include "base/log.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {

using base::bytes_of;

send_channel::send_channel(context made) noexcept
    : records_(made.way.get(), made.fence_always),
      peer_(made.peer),
      readable_pid_(made.readable_pid),
      way_(std::move(made.way)),
      transfers_(way_.get(), made.push, made.readable_pid),
      pusher_(way_.get(), transfers_, records_, {pieces_, figures_}),
      calls_(way_ ? way_->slot().control : nullptr),
      gets_(way_ ? way_->slot() : slot_view{}, way_ ? way_->shape().piece_bytes : 0),
      posted_count_(made.posted_count),
      news_(made.news) {}

post send_channel::send(const packet& what) noexcept {
  if (!records_.usable()) [[unlikely]]
    return post::down;
  return records_.send(what);
}

// --- the peer's exposures

post send_channel::put(const remote_place& to, std::span<const std::byte> from,
                       std::uint64_t cookie) noexcept {
  if (!records_.usable()) return post::down;
  if (from.size() > way_->shape().small_put_bytes()) return start_transfer(to, from, cookie);
  const put_prefix prefix{.id = to.exposed.id, .offset = to.offset};
  return records_.write(record_kind::put, bytes_of(prefix), from);
}

post send_channel::start_transfer(const remote_place& to, std::span<const std::byte> from,
                                  std::uint64_t cookie) noexcept {
  if (transfers_.full()) return post::retry;
  if (!pieces_reserved_) {
    if (!way_->reserve_pieces()) {
      mark_lost();
      return post::down;
    }
    pieces_.set_peers(buffers_of(way_->slot(), way_->shape()));
    pieces_reserved_ = true;
  }
  const transfer_notice notice =
      transfers_.begin(to, from, cookie, receives_.load(std::memory_order_relaxed));  // a hint
  if (const post said = records_.write(record_kind::transfer, bytes_of(notice)); said != post::done)
    return said;
  posted_count_->fetch_add(1, std::memory_order_relaxed);  // `reap` looks; `began` carries
  transfers_.began();
  if (pushing_.try_lock()) {
    pusher_.push();
    pushing_.unlock();
  }
  return post::posted;
}

post send_channel::atomic(const remote_place& at, const atomic_request& what, std::uint64_t* before,
                          std::uint64_t cookie) noexcept {
  if (!records_.usable()) return post::down;
  if (calls_.full() || !records_.reserve(cells_of(sizeof(atomic_call)))) return post::retry;
  const atomic_call call{.id = at.exposed.id,
                         .offset = at.offset,
                         .operand = what.operand,
                         .expected = what.expected,
                         .number = calls_.begin(before, cookie),
                         .what = static_cast<std::uint32_t>(what.what)};
  posted_count_->fetch_add(1, std::memory_order_relaxed);  // `reap` looks
  calls_.began();  // before the answer can wake a thread, which must see the call
  static_cast<void>(records_.write(record_kind::atomic, bytes_of(call)));  // there is room
  return post::posted;
}

post send_channel::get(const remote_place& from, std::span<std::byte> to,
                       std::uint64_t cookie) noexcept {
  if (!records_.usable()) return post::down;
  if (to.empty()) return post::done;
  if (!replies_reserved_ && !(replies_reserved_ = way_->reserve_replies())) {
    base::log(base::severity::warning, "shm: no memory to get bytes from peer {}",
              static_cast<std::uint32_t>(peer_));
    return post::down;
  }
  if (gets_.full() || !records_.reserve(cells_of(sizeof(get_call)))) return post::retry;
  const get_call call{.id = from.exposed.id, .offset = from.offset, .bytes = to.size()};
  posted_count_->fetch_add(1, std::memory_order_relaxed);  // `reap` looks
  gets_.begin(to, cookie);
  static_cast<void>(records_.write(record_kind::get, bytes_of(call)));  // there is room
  return post::posted;
}

// --- what is under way

std::size_t send_channel::report(std::span<event> out) noexcept {
  const bool down = lost_.load(std::memory_order_acquire) || peer_has_closed();
  std::size_t count = pusher_.report(peer_, down, out);
  count += calls_.report(peer_, down, out.subspan(count),
                         [this](std::uint64_t& ticket)
                             HEADWAY_NO_THREAD_SAFETY_ANALYSIS {  // it is held here
                               return pusher_.buffers_emptied(ticket);
                             });
  bool freed = false;
  count += gets_.report(peer_, down, out.subspan(count), copy_budget_bytes, freed);
  if (freed) notify();
  if (count == 0) return 0;
  posted_count_->fetch_sub(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  return count;
}

std::size_t send_channel::advance(std::span<event> out) noexcept {
  if (!unfinished() || !pushing_.try_lock()) return 0;
  if (!lost_.load(std::memory_order_relaxed)) pusher_.push();
  const std::size_t count = report(out);
  pushing_.unlock();
  return count;
}

bool send_channel::unfinished() const noexcept {
  return transfers_.unfinished() || calls_.waiting() || gets_.waiting();
}

bool send_channel::could_advance() noexcept {
  if (records_.has_room_again()) return true;
  if (!unfinished()) return false;
  if (!pushing_.try_lock()) return true;  // another thread pushes; its result counts
  const std::uint32_t oldest = transfers_.oldest();
  const bool something = calls_.answered() || gets_.answered() || peer_has_closed() ||
                         lost_.load(std::memory_order_relaxed) ||
                         (oldest != transfers_.end() && transfers_.is_whole(oldest)) ||
                         pusher_.could_push();
  pushing_.unlock();
  return something;
}

// --- the peer's life

void send_channel::look_after() noexcept {
  if (lost_.load(std::memory_order_relaxed)) return;
  if (peer_has_closed()) {
    if (unfinished()) news_->store(true, std::memory_order_release);
    return;
  }
  // Closing and then exiting is no death: check the word again after the death was seen.
  if (!way_->owner_alive() && !peer_has_closed()) mark_lost();
}

void send_channel::leave() noexcept {
  // For peers that find our name gone: the kernel removes it after this store.
  if (way_) way_->slot().control->left.store(1, std::memory_order_release);
}

void send_channel::mark_lost() noexcept {
  records_.set_down();
  lost_.store(true, std::memory_order_release);
  news_->store(true, std::memory_order_release);
}

}  // namespace headway::rails::shm
