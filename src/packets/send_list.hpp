#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "packets/send_item.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {

/// The packets that wait for a peer's rails, in the order in which they leave: urgent ones first,
/// otherwise the oldest first. Linked by `send_item::next`.
/// Shape:    `send_item::waits` is true of those in the list.
/// Threads:  the holder of the scheduler's mask; `next` is stored relaxed for that reason.
class send_list {
 public:
  /// A strategy gets at most so many packets: examining a longer list would cost more than it
  /// gains.
  static constexpr std::size_t shown_max = 256;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] send_item* first() const noexcept { return first_; }
  [[nodiscard]] backlog shown() const noexcept { return {first_, std::min(count_, shown_max)}; }

  /// An urgent packet goes behind the urgent ones. One that would pass a packet of its own flow
  /// there is not urgent any more.
  void append(send_item& item) noexcept {
    if (item.urgent && item.flow != 0 && passes_its_own(item)) item.urgent = false;
    item.waits.store(true, std::memory_order_relaxed);
    insert(item, item.urgent ? last_urgent_ : last_);
    if (item.urgent) last_urgent_ = &item;
  }
  [[nodiscard]] send_item* pop_front() noexcept {
    send_item* item = first_;
    HEADWAY_DEBUG_ASSERT((item == nullptr) == (count_ == 0));
    if (!item) return nullptr;
    first_ = next_of(*item);
    if (!first_) last_ = nullptr;
    if (last_urgent_ == item) last_urgent_ = nullptr;
    --count_;
    if (!item->urgent) --ordinary_[item->flow % buckets];
    item->waits.store(false, std::memory_order_relaxed);
    return item;
  }
  /// Puts back what `pop_front` has taken, in this order, before anything was appended.
  void put_back(std::span<send_item* const> taken) noexcept {
    for (std::size_t i = taken.size(); i-- > 0;) {
      taken[i]->waits.store(true, std::memory_order_relaxed);
      insert(*taken[i], nullptr);
      if (taken[i]->urgent && !last_urgent_) last_urgent_ = taken[i];
    }
  }

 private:
  /// Behind `before`; null: in front.
  void insert(send_item& item, send_item* before) noexcept {
    send_item* const following = before ? next_of(*before) : first_;
    item.next.store(following, std::memory_order_relaxed);
    if (before) {
      before->next.store(&item, std::memory_order_relaxed);
    } else {
      first_ = &item;
    }
    if (!following) last_ = &item;
    ++count_;
    if (!item.urgent) ++ordinary_[item.flow % buckets];
  }
  [[nodiscard]] bool passes_its_own(const send_item& item) const noexcept {
    if (ordinary_[item.flow % buckets] == 0) return false;
    const send_item* other = last_urgent_ ? next_of(*last_urgent_) : first_;
    while (other && other->flow != item.flow) other = next_of(*other);
    return other != nullptr;
  }
  [[nodiscard]] static send_item* next_of(const send_item& item) noexcept {
    return item.next.load(std::memory_order_relaxed);
  }
  send_item* first_ = nullptr;
  send_item* last_ = nullptr;
  send_item* last_urgent_ = nullptr;  // null: none is urgent
  static constexpr std::size_t buckets = 16;
  std::array<std::uint32_t, buckets> ordinary_{};  // of those that are not urgent, by flow
  std::size_t count_ = 0;
};

}  // namespace headway::packets
