#include "windows/control_line.hpp"

#include "base/backoff.hpp"

namespace headway::windows {
namespace {

// The kernel numbers namespaces by 32 bits.
constexpr int pid_bits = 32;

[[nodiscard]] base::process_name name_of(lock_holder holder) noexcept {
  const auto word = static_cast<std::uint64_t>(holder);
  return {.pid_namespace = word >> pid_bits, .pid = static_cast<std::uint32_t>(word)};
}

}  // namespace

lock_holder holder_of(const base::process_name& which) noexcept {
  return static_cast<lock_holder>(which.pid_namespace << pid_bits | which.pid);
}

lock_holder own_holder() noexcept { return holder_of(base::process_name::own()); }

bool window_lock::draw(std::uint16_t& mine) noexcept {
  return change([&mine](std::uint64_t now) {
    mine = next(now);
    const bool full = static_cast<std::uint16_t>(mine + 1) == turn(now);
    return (now & queued) != 0 || full ? refused : now + (std::uint64_t{1} << next_bit);
  });
}

bool window_lock::take_turn(std::uint16_t mine, lock_type how) noexcept {
  return change([mine, how](std::uint64_t now) {
    if (turn(now) != mine || !is_free(now, how)) return refused;
    const std::uint64_t later = static_cast<std::uint16_t>(mine + 1);
    const auto others = now & ~(passes | std::uint64_t{0xffff} << turn_bit);
    return taken(others | later << turn_bit, how);
  });
}

bool window_lock::give_back(std::uint16_t mine) noexcept {
  return change([mine](std::uint64_t now) {
    const bool last = next(now) == static_cast<std::uint16_t>(mine + 1);
    return last ? now - (std::uint64_t{1} << next_bit) : refused;
  });
}

[[gnu::noinline]] bool change_lock::lock_after_others(lock_holder me) noexcept {
  constexpr unsigned rounds_between_looks = 256;  // most of which sleep: about 20 ms
  base::backoff until_free;
  for (unsigned rounds = 1;; ++rounds) {
    if (try_lock(me)) return true;
    until_free.wait();
    if (rounds % rounds_between_looks != 0) continue;
    const auto holder = holder_.load(std::memory_order_relaxed);  // a name, which carries no data
    if (holder == lock_holder::none || !base::has_ended(name_of(holder))) continue;
    // Only a process that runs can have released it.
    if (holder_.load(std::memory_order_relaxed) == holder) return false;
  }
}

}  // namespace headway::windows
