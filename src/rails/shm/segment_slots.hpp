#pragma once

#include <algorithm>
#include <vector>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/shm/peer_links.hpp"
#include "rails/shm/segment.hpp"
#include "rails/shm/sleeper.hpp"
#include "rails/shm_slots.hpp"

namespace headway::rails::shm {

/// The shared lines and banks of this process and of those that it reaches.
class segment_slots final : public shm_slots {
 public:
  segment_slots(const segment& mine, peer_id me, const peer_links& links, sleeper& sleep) noexcept
      : mine_(&mine), me_(me), links_(&links), sleep_(&sleep) {}

  [[nodiscard]] std::byte* lines_of(peer_id peer, std::uint32_t slot) noexcept override {
    HEADWAY_ASSERT(slot < slots);
    const attachment* to = segment_of(peer);
    std::byte* first = peer == me_ ? mine_->shared_lines() : to ? to->shared_lines() : nullptr;
    return first ? first + slot * slot_bytes : nullptr;
  }
  [[nodiscard]] std::byte* bank_of(peer_id peer, std::uint32_t slot) noexcept override {
    HEADWAY_ASSERT(slot < slots);
    const attachment* to = segment_of(peer);
    std::byte* first = peer == me_ ? mine_->banks() : to ? to->banks() : nullptr;
    return first ? first + slot * banked_bytes : nullptr;
  }
  [[nodiscard]] bool reserve_bank(std::uint32_t slot) noexcept override {
    HEADWAY_ASSERT(slot < slots);
    return mine_->reserve_of_slot(slot, 0, passed_at);
  }
  [[nodiscard]] bool reserve_passed(std::uint32_t slot, std::size_t bytes) noexcept override {
    HEADWAY_ASSERT(slot < slots && bytes <= passed_bytes);
    return mine_->reserve_of_slot(slot, passed_at, bytes);
  }
  void wake(peer_id peer, bool can_wait) noexcept override {
    auto& way = *links_->find(peer);
    can_wait ? way.notify_of_waiting() : way.notify();
    sleep_->note_awake(1);  // an exchange through slots is no event that `reap` reports
  }
  void watch(watcher& w) override {
    const base::lock_guard guard(lock_);
    watchers_.push_back(&w);
  }
  void unwatch(watcher& w) noexcept override {
    const base::lock_guard guard(lock_);
    std::erase(watchers_, &w);
  }
  [[nodiscard]] bool any_ready() noexcept {
    const base::lock_guard guard(lock_);
    return std::ranges::any_of(watchers_, [](const watcher* w) { return w->ready(); });
  }

 private:
  /// Null: it is not seen from here.
  [[nodiscard]] const attachment* segment_of(peer_id peer) const noexcept {
    const send_channel* to = links_->find(peer);
    return to ? to->attached() : nullptr;
  }

  const segment* mine_;
  peer_id me_;
  const peer_links* links_;
  sleeper* sleep_;
  base::spinlock lock_;  // cold
  std::vector<watcher*> watchers_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::rails::shm
