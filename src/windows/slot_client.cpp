#include "windows/slot_client.hpp"

#include <algorithm>
#include <span>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace headway::windows {
namespace {

/// A copy by the kernel takes 1.2 to 2 us. A target that waits polls several times in that.
constexpr std::uint64_t poll_patience_ns = 2'000;
/// About what a wake-up takes.
constexpr std::uint64_t wake_patience_ns = 50'000;
constexpr unsigned looks_between_clock_reads = 8;

}  // namespace

slot_client::claimed slot_client::claim() noexcept {
  claimed made{.patience_ns = poll_patience_ns};
  if (const auto missed = missed_.load(std::memory_order_relaxed); missed != 0) [[unlikely]] {
    missed_.store(missed + 1, std::memory_order_relaxed);
    if (!has_polled() || missed < apart_.load(std::memory_order_relaxed)) {
      if (!should_wake(missed)) return made;
      of_.wire.wake(of_.rank);
      woken_.store(true, std::memory_order_relaxed);
      made.patience_ns = wake_patience_ns;
    }
  }
  made.slot = claim_another();
  return made;
}

bool slot_client::has_polled() noexcept {
  const auto rounds = of_.slots.sign.rounds.load(std::memory_order_relaxed);
  const auto before = rounds_seen_.load(std::memory_order_relaxed);
  rounds_seen_.store(rounds, std::memory_order_relaxed);
  return rounds != before;
}

bool slot_client::should_wake(std::uint32_t missed) const noexcept {
  return missed >= gap_.load(std::memory_order_relaxed) &&
         of_.slots.sign.wait_sleeps.load(std::memory_order_relaxed) != 0;
}

request_slot* slot_client::claim_another() noexcept {
  for (auto& slot : of_.slots.all)
    if (slot.turn.claim()) return &slot;
  return nullptr;
}

slot_client::outcome slot_client::await(request_slot& slot, std::uint64_t patience_ns) noexcept {
  std::uint64_t until_ns = 0;
  for (unsigned looks = 1; !slot.turn.is_done(); ++looks) {
    of_.own.serve();
    base::relax();
    if (looks % looks_between_clock_reads != 0) continue;
    const auto now = base::machine_now_ns();
    if (until_ns == 0) until_ns = now + patience_ns;
    if (now < until_ns) continue;
    return slot.turn.withdraw() ? outcome::not_answered : await_end(slot);
  }
  return outcome::answered;
}

/// If it takes long, the target's thread has lost its processor, or the process is stopped or has
/// ended.
slot_client::outcome slot_client::await_end(request_slot& slot) noexcept {
  constexpr unsigned rounds_between_looks = 256;  // most of which sleep: about 20 ms
  base::backoff until_done;
  for (unsigned rounds = 1; !slot.turn.is_done(); ++rounds) {
    until_done.wait();
    if (rounds % rounds_between_looks != 0) continue;
    std::byte any;
    const auto at = rails::direct_place(of_.base, sizeof any);
    const bool runs = of_.copies.get(of_.process, at, {&any, 1}, 0) == rails::post::done;
    if (!runs && !slot.turn.is_done()) return outcome::lost;
  }
  return outcome::answered;
}

void slot_client::learn(outcome how) noexcept {
  HEADWAY_DEBUG_ASSERT(how != outcome::lost);
  const auto taken = taken_.load(std::memory_order_relaxed);
  const auto apart = apart_.load(std::memory_order_relaxed);
  if (how == outcome::answered) {
    if (taken < worth_waking) taken_.store(taken + 1, std::memory_order_relaxed);
    if (apart > 1) apart_.store(apart / 2, std::memory_order_relaxed);
    if (missed_.load(std::memory_order_relaxed) == 0) return;
    missed_.store(0, std::memory_order_relaxed);
    woken_.store(false, std::memory_order_relaxed);
    return;
  }
  const auto gap = gap_.load(std::memory_order_relaxed);
  const bool in_vain = woken_.load(std::memory_order_relaxed) || taken != 0;
  if (taken >= worth_waking) gap_.store(first_gap, std::memory_order_relaxed);
  else if (in_vain) gap_.store(std::min(gap * gap_growth, greatest_gap), std::memory_order_relaxed);
  woken_.store(false, std::memory_order_relaxed);
  apart_.store(std::min(2 * apart, greatest_apart), std::memory_order_relaxed);
  taken_.store(0, std::memory_order_relaxed);
  missed_.store(1, std::memory_order_relaxed);
}

}  // namespace headway::windows
