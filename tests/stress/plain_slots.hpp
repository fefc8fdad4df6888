#pragma once

#include <gtest/gtest.h>

#include <array>
#include <span>

#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// Slots of ranks that are threads, in plain memory. No thread sleeps on them: engines without an
/// event source poll at a period.
/// Shape:    peer i has the i-th memory of each kind; of banks there is one slot.
class plain_slots final : public rails::shm_slots {
 public:
  using lines_memory = std::array<std::byte, rails::shm_slots::total_bytes>;
  using bank_memory = std::array<std::byte, rails::shm_slots::banked_bytes>;
  plain_slots(std::span<lines_memory> of_lines, std::span<bank_memory> of_banks)
      : lines_(of_lines), banks_(of_banks) {}
  std::byte* lines_of(rails::peer_id peer, std::uint32_t slot) noexcept override {
    return lines_[static_cast<std::uint32_t>(peer)].data() + slot * slot_bytes;
  }
  std::byte* bank_of(rails::peer_id peer, std::uint32_t) noexcept override {
    return banks_[static_cast<std::uint32_t>(peer)].data();
  }
  bool reserve_bank(std::uint32_t) noexcept override { return true; }
  bool reserve_passed(std::uint32_t, std::size_t) noexcept override { return true; }
  void wake(rails::peer_id, bool) noexcept override {}
  void watch(watcher& w) override { EXPECT_FALSE(w.ready()) << "no rank waits yet"; }
  void unwatch(watcher&) noexcept override {}

 private:
  std::span<lines_memory> lines_;
  std::span<bank_memory> banks_;
};

}  // namespace headway::collectives
