#include "packets/peer.hpp"

#include <bit>
#include <cstring>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "base/hide.hpp"
#include "packets/bundle/bundle.hpp"
#include "packets/peers.hpp"

namespace headway::packets {
namespace {

/// Its address names the thread.
thread_local const char this_thread = 0;

/// As one whole word, because that is how the rail copies it: see `copy_header` of rails/shm.
void put_credit(std::byte* head, std::uint32_t credit) noexcept {
  static_assert(sizeof(stream_head) == sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, head, sizeof word);
  if constexpr (std::endian::native == std::endian::little) {
    word = (word & ~std::uint64_t{UINT32_MAX}) | credit;
  } else {
    word = (word & UINT32_MAX) | std::uint64_t{credit} << 32;
  }
  base::hide(word);  // else the half that changed would be written alone
  std::memcpy(head, &word, sizeof word);
}

}  // namespace

peer::peer(peers& all, rails::peer_id id) noexcept
    : all_(all), id_(id), strategy_(find_strategy("fifo")) {}

peer::~peer() = default;

receiver& peer::above() const noexcept { return *all_.above_; }

void peer::pull(const pull_order& order) noexcept { bundle_->pull(order); }

peer::taken peer::transmit(outgoing& item) noexcept {
  if (item.charge != 0) {
    const std::uint32_t stored = charged_ - returned_.load(std::memory_order_relaxed);
    if (stored + item.charge > credit_bytes_) item.demote(item);
  }
  const std::uint32_t charge = item.charge;
  const bool answered = item.answered;
  const bool telling = item.head_bytes != 0;
  const std::uint32_t credit = consumed_total();
  if (telling) put_credit(item.head.data(), credit);
  const auto* payload = item.payload.data();
  base::hide(payload);  // and with it, that its size lies behind it
  const auto answer = rail_->send(id_, {.header = {item.head.data(), item.head_bytes},
                                        .payload = {payload, item.payload.size()},
                                        .landing = item.landing,
                                        .offset = item.offset,
                                        .cookie = reinterpret_cast<std::uintptr_t>(&item)});
  // Unless it is `done` and unanswered, `item` may be gone: others saw its event or the answer.
  if (answer == rails::post::retry) return taken::not_yet;
  if (answer == rails::post::down) return taken::never;
  charged_ += charge;
  if (answer == rails::post::posted) all_.engine().pending_started();  // ended with its event
  if (telling) advertised_.store(credit, std::memory_order_relaxed);
  return answer == rails::post::posted || answered ? taken::in_part : taken::whole;
}

posted peer::post(outgoing& item) noexcept {
  if (bundle_) [[unlikely]]
    return bundle_->post(item);
  if (lost()) return posted::down;
  auto answer = posted::pending;
  if (!mask_.try_hold()) {
    mask_.submit(item);
    flush();
  } else {
    if (first_ == nullptr && !mask_.any_submitted()) {
      switch (transmit(item)) {
        case taken::whole:
          answer = posted::done;
          break;
        case taken::in_part:
          break;
        case taken::not_yet:
          append(item);
          all_.stalled(*this);
          break;
        case taken::never:
          answer = posted::down;
          break;
      }
    } else {
      adopt_submitted();
      append(item);
      if (!drain()) all_.stalled(*this);
    }
    mask_.let_go();
    if (mask_.any_submitted()) flush();
  }
  end_if_lost();
  return answer;
}

posted peer::post_later(outgoing& item) noexcept {
  if (bundle_) [[unlikely]]
    return bundle_->post(item);
  if (lost()) return posted::down;
  if (!mask_.try_hold()) {
    mask_.submit(item);
    flush();
  } else {
    adopt_submitted();
    append(item);
    all_.stalled(*this);
    mask_.let_go();
    if (mask_.any_submitted()) flush();
    all_.nudge();
  }
  end_if_lost();
  return posted::pending;
}

bool peer::post_now(std::span<std::byte> head, std::span<const std::byte> payload) noexcept {
  if (bundle_ || lost() || !mask_.try_hold()) return false;
  auto answer = rails::post::retry;
  if (first_ == nullptr && !mask_.any_submitted()) {
    const std::uint32_t credit = consumed_total();
    put_credit(head.data(), credit);
    answer = rail_->send(id_, {.header = head, .payload = payload});
    if (answer == rails::post::done) advertised_.store(credit, std::memory_order_relaxed);
  }
  HEADWAY_DEBUG_ASSERT(answer != rails::post::posted);
  mask_.let_go();
  if (mask_.any_submitted()) flush();
  return answer == rails::post::done;
}

void peer::send_lined_up() noexcept {
  flush();
  end_if_lost();
}

void peer::append(outgoing& item) noexcept {
  item.next.store(nullptr, std::memory_order_relaxed);  // ours: under the mask
  if (last_) {
    last_->next.store(&item, std::memory_order_relaxed);
  } else {
    first_ = &item;
  }
  last_ = &item;
}

void peer::adopt_submitted() noexcept {
  outgoing* item = mask_.take_all();
  while (item) {
    outgoing* following = item->next.load(std::memory_order_relaxed);
    append(*item);
    item = following;
  }
}

bool peer::drain() noexcept {
  while (first_) {
    outgoing& item = *first_;
    // Unlinked before it is sent, because it may be gone before `transmit` returns.
    first_ = item.next.load(std::memory_order_relaxed);
    if (!first_) last_ = nullptr;
    switch (lost() ? taken::never : transmit(item)) {
      case taken::whole:
        tell_sent(item, true);
        break;
      case taken::in_part:
        break;
      case taken::not_yet:
        item.next.store(first_, std::memory_order_relaxed);
        first_ = &item;
        if (!last_) last_ = &item;
        return false;
      case taken::never:
        tell_sent(item, false);
        break;
    }
  }
  return true;
}

void peer::tell_sent(outgoing& item, bool well) noexcept {
  telling_.store(&this_thread, std::memory_order_relaxed);
  item.sent(item, well);
  telling_.store(nullptr, std::memory_order_relaxed);
}

void peer::end_if_lost() noexcept {
  if (!lost()) return;
  // Posted from inside a `sent`: the mask is this thread's own. Whoever holds it looks again when
  // it lets go, and who has set `lost_` waits for the mask before it tells.
  if (telling_.load(std::memory_order_relaxed) == &this_thread) return;
  for (base::backoff its_holder; !fail_waiting();) its_holder.wait();
}

void peer::flush() noexcept {
  while (mask_.any_submitted() && mask_.try_hold()) {
    adopt_submitted();
    if (!drain()) all_.stalled(*this);
    mask_.let_go();
  }
}

bool peer::fail_waiting() noexcept {
  if (!mask_.try_hold()) return false;
  adopt_submitted();
  static_cast<void>(drain());  // a lost peer never stalls
  mask_.let_go();
  if (mask_.any_submitted()) flush();  // from inside a `sent`
  return true;
}

void peer::consumed_late(std::uint32_t bytes) noexcept {
  consumed_late_.fetch_add(bytes, std::memory_order_relaxed);
  return_credit_if_due();
}

void peer::return_credit_if_due() noexcept {
  // An old `advertised_` only makes us return credit once too often.
  const std::uint32_t owed = consumed_total() - advertised_.load(std::memory_order_relaxed);
  if (owed <= credit_bytes_ / 2) return;
  if (credit_flying_.exchange(true, std::memory_order_acquire)) return;  // pairs with credit_sent
  credit_item_.head_bytes = sizeof(stream_head);
  const stream_head head{.kind = credit_only};
  std::memcpy(credit_item_.head.data(), &head, sizeof head);
  credit_item_.sent = &peer::credit_sent;
  credit_item_.self = this;
  if (post(credit_item_) != posted::pending) credit_flying_.store(false, std::memory_order_release);
}

void peer::credit_sent(outgoing& item, bool) noexcept {
  static_cast<credit_return&>(item).self->credit_flying_.store(
      false, std::memory_order_release);  // the next user of the item sees our last use of it
}

}  // namespace headway::packets
