#include "progress/background/quiet_sleep.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "progress/core/meter.hpp"

namespace headway::progress {
namespace {

constexpr std::uint64_t soon_ns = 20'000;
// To arm and to disarm the sources takes some hundred nanoseconds, a wake-up some microseconds.
constexpr std::uint32_t successions_max = 32;

}  // namespace

void quiet_sleep::sleep(const base::atomic<std::uint32_t>& stop,
                        std::uint64_t deadline_ns) noexcept {
  behind_gate_.fetch_add(1, std::memory_order_seq_cst);  // before (C): see tell_sleepers
  sleep_behind_gate(gate_.close(), stop, deadline_ns);
  behind_gate_.fetch_sub(1, std::memory_order_relaxed);
}

std::uint64_t quiet_sleep::sleep_until_boost_is_due(
    const base::atomic<std::uint32_t>& stop) noexcept {
  behind_gate_.fetch_add(1, std::memory_order_seq_cst);
  const auto closed = gate_.close();
  const auto due = boosted_.give_back_due(clock_.now_ns());
  sleep_behind_gate(closed, stop, due);
  behind_gate_.fetch_sub(1, std::memory_order_relaxed);
  return due;
}

void quiet_sleep::sleep_behind_gate(std::uint32_t closed, const base::atomic<std::uint32_t>& stop,
                                    std::uint64_t deadline_ns) noexcept {
  if (nothing_to_do() && !stop.load(std::memory_order_seq_cst)) {
    engine_counters::count(counted_.quiet_sleeps);
    const stretch timed(this_thread().measured, "quiet", &meter::sleeps, &meter::slept_ns);
    base::futex_wait(gate_.futex_word(), closed, deadline_ns);
  }
}

/// The gate is closed. A thread behind it that this function does not count has yet to check for
/// work, and finds it. If the gate is opened while a thread is parked, then for others, which look
/// at what starts before they sleep again.
void quiet_sleep::tell_sleepers() noexcept {
  if (nothing_to_do()) return;
  const bool parked = parking_.any();
  if (!parked || behind_gate_.load(std::memory_order_seq_cst) != 0) wake_all();
  if (parked) arm_for_parked();
}

void quiet_sleep::arm_for_parked() noexcept {
  bool kicks = false;
  parking_.arm([&] {
    kicks = too_often() || !sleeper_.arm_parked(worth_waking_for());
    if (!kicks) engine_counters::count(counted_.armings);
  });
  if (kicks) sleeper_.kick();
}

bool quiet_sleep::too_often() noexcept {
  const auto now = clock_.now_ns();
  in_succession_ = now - armed_ns_ < soon_ns ? in_succession_ + 1 : 0;
  armed_ns_ = now;
  return in_succession_ > successions_max;
}

void quiet_sleep::begin_attending(thread_record& me) noexcept {
  me.attends = true;
  attendances_.fetch_add(1, std::memory_order_relaxed);
  parking_.attend([this] { sleeper_.disarm_parked(); });
}

void quiet_sleep::end_attending(thread_record& me) noexcept {
  me.attends = false;
  parking_.leave();
  if (work_.balance() != 0) arm_for_parked();
}

bool quiet_sleep::stop_attending_to_sleep(thread_record& me) noexcept {
  if (!me.attends) return true;
  me.attends = false;
  parking_.leave();
  bool work = false;
  parking_.arm([&] {  // however often: this thread sleeps on them
    work = !sleeper_.arm_parked(worth_waking_for());
    engine_counters::count(counted_.armings);
  });
  return !work;
}

quiet_sleep::unparked quiet_sleep::park(const base::atomic<std::uint32_t>& stop,
                                        std::uint64_t deadline_ns) noexcept {
  // Armed once, to find what is there already, and to drain what an outdated ring has left.
  const bool work = !sleeper_.arm_parked(worth_waking_for());
  sleeper_.disarm_parked();
  if (work && !parking_.attended()) return unparked::other;
  in_succession_ = 0;
  armed_ns_ = clock_.now_ns();
  parking_.begin();
  static_cast<void>(gate_.close());
  if (!nothing_to_do()) arm_for_parked();  // as a starter does: it may have found no thread parked
  const auto must_leave = [&] {
    return queues_.has_submissions() || sleeper_.wanted() ||
           stop.load(std::memory_order_seq_cst) != 0;
  };
  {
    engine_counters::count(counted_.parked_sleeps);
    const stretch timed(this_thread().measured, "parked", &meter::sleeps, &meter::slept_ns);
    sleeper_.park([&]() -> std::uint64_t {
      return must_leave() ? 0 : std::min(deadline_ns, boosted_.give_back_due(clock_.now_ns()));
    });
  }
  auto how = parking_.try_end();
  for (base::backoff until_changed; how == basic_parking<>::ended::not_yet;
       how = parking_.try_end())
    until_changed.wait();
  wake_all();  // no thread is parked: `tell` need not look
  const bool due = clock_.now_ns() >= deadline_ns;
  if (how == basic_parking<>::ended::armed) {
    sleeper_.disarm_parked();
    if (in_succession_ > successions_max) return unparked::busy;
    if (!due || !nothing_to_do()) return unparked::armed;
  }
  return due && nothing_to_do() && !must_leave() ? unparked::calm : unparked::other;
}

}  // namespace headway::progress
