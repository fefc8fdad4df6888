#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>

#include "base/assert.hpp"
#include "packets/send_item.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {

/// The packets that wait for a peer's rails, oldest first, linked by `send_item::next`.
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

  void append(send_item& item) noexcept {
    item.next.store(nullptr, std::memory_order_relaxed);
    item.waits.store(true, std::memory_order_relaxed);
    if (last_) {
      last_->next.store(&item, std::memory_order_relaxed);
    } else {
      first_ = &item;
    }
    last_ = &item;
    ++count_;
  }
  [[nodiscard]] send_item* pop_front() noexcept {
    send_item* item = first_;
    HEADWAY_DEBUG_ASSERT((item == nullptr) == (count_ == 0));
    if (!item) return nullptr;
    first_ = next_of(*item);
    if (!first_) last_ = nullptr;
    --count_;
    item->waits.store(false, std::memory_order_relaxed);
    return item;
  }
  /// Removes these, wherever they are. Usually they are the first ones.
  void unlink(std::span<send_item* const> chosen) noexcept {
    std::size_t taken = 0;
    while (taken < chosen.size() && chosen[taken] == first_) {
      static_cast<void>(pop_front());
      ++taken;
    }
    chosen = chosen.subspan(taken);
    send_item* before = nullptr;
    std::size_t left = chosen.size();
    for (send_item* item = first_; item && left > 0;) {
      send_item* following = next_of(*item);
      if (std::ranges::find(chosen, item) == chosen.end()) {
        before = item;
      } else {
        --left;
        --count_;
        item->waits.store(false, std::memory_order_relaxed);
        if (before) {
          before->next.store(following, std::memory_order_relaxed);
        } else {
          first_ = following;
        }
        if (last_ == item) last_ = before;
      }
      item = following;
    }
    HEADWAY_DEBUG_ASSERT(left == 0);
  }
  /// Puts these in front again, in this order.
  void put_back(std::span<send_item* const> chosen) noexcept {
    for (std::size_t i = chosen.size(); i-- > 0;) {
      chosen[i]->next.store(first_, std::memory_order_relaxed);
      chosen[i]->waits.store(true, std::memory_order_relaxed);
      first_ = chosen[i];
      if (!last_) last_ = chosen[i];
      ++count_;
    }
  }

 private:
  [[nodiscard]] static send_item* next_of(const send_item& item) noexcept {
    return item.next.load(std::memory_order_relaxed);
  }
  send_item* first_ = nullptr;
  send_item* last_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace headway::packets
