#include "windows/slot_way.hpp"

#include <bit>
#include <span>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/copy_small.hpp"
#include "windows/array_form.hpp"

namespace headway::windows {
namespace {

using datatypes::number;

/// A copy by the kernel takes 1.2 to 2 us. A target that waits polls several times in that.
constexpr std::uint64_t patience_ns = 2'000;
constexpr unsigned looks_between_clock_reads = 8;

// Of the operations since the target took one, the first few ask it. Then it computes, or its
// thread sleeps: the 8th wakes that, and those behind it ask again, then the 128th, the 2048th and
// so on: few enough to leave a computation alone. One in `asking_period` asks in any case.
constexpr std::uint32_t asking_first = 2, asking_woken = 24, asking_period = 256;
constexpr int first_wake_bit = 3, wake_bits = 4;

[[nodiscard]] constexpr bool wakes(std::uint32_t operation) noexcept {
  return std::has_single_bit(operation) &&
         std::countr_zero(operation) % wake_bits == first_wake_bit;
}
[[nodiscard]] constexpr bool asks(std::uint32_t operation) noexcept {
  if (operation < asking_first || operation % asking_period == 0) return true;
  const int bit = std::bit_width(operation) - 1;
  if (bit < first_wake_bit) return false;
  const auto woken = std::uint32_t{1} << (bit - (bit - first_wake_bit) % wake_bits);
  return operation - woken < asking_woken;
}
static_assert(wakes(8) && wakes(128) && !wakes(16) && !wakes(0));
static_assert(asks(0) && !asks(7) && asks(8) && asks(31) && !asks(32) && asks(130) && asks(512));

[[nodiscard]] std::size_t bytes_of(const remote_data& what) noexcept {
  return static_cast<std::size_t>(what.bytes());
}

[[nodiscard]] bool fits(const remote_data& what) noexcept {
  return what.is_one_block() && bytes_of(what) <= request_slot::data_bytes;
}

/// Elements in a row at the target, with their operand and what was there in one slot.
[[nodiscard]] bool fits(const remote_data& what, number kind, bool fetches) noexcept {
  const auto& one = datatypes::layout::of(kind);
  if (one.size() != one.extent() || !fits(what)) return false;
  return !fetches || padded(bytes_of(what)) + bytes_of(what) <= request_slot::data_bytes;
}

}  // namespace

std::optional<status> slot_way::put(const local_data& from, const remote_data& to) noexcept {
  if (!fits(to)) return std::nullopt;
  request_slot* const slot = claim();
  if (slot == nullptr) return std::nullopt;
  slot->what = action::put;
  slot->kind = number::byte;
  slot->offset = to.block();
  slot->count = static_cast<std::uint32_t>(to.bytes());
  if (from.is_one_block()) {
    base::copy_small(slot->data.data(), from.block(), slot->count);
  } else {
    from.type->pack(from.at, from.count, slot->data.data());
  }
  return ask(*slot, [] {});
}

std::optional<status> slot_way::get(const local_data& to, const remote_data& from) noexcept {
  if (!fits(from)) return std::nullopt;
  request_slot* const slot = claim();
  if (slot == nullptr) return std::nullopt;
  slot->what = action::get;
  slot->kind = number::byte;
  slot->offset = from.block();
  slot->count = static_cast<std::uint32_t>(from.bytes());
  return ask(*slot, [&] {
    if (to.is_one_block()) {
      base::copy_small(to.block(), slot->data.data(), slot->count);
    } else {
      to.type->unpack(slot->data.data(), to.at, to.count);
    }
  });
}

std::optional<status> slot_way::change_elements(const local_data* operand, const local_data* before,
                                                const remote_data& where, const change& how) {
  if (!fits(where, how.kind, before != nullptr)) return std::nullopt;
  request_slot* const slot = claim();
  if (slot == nullptr) return std::nullopt;
  const auto bytes = bytes_of(where);
  slot->what = before != nullptr ? action::fetch : action::accumulate;
  slot->op = how.what;
  slot->kind = how.kind;
  slot->offset = where.block();
  slot->count = static_cast<std::uint32_t>(where.bytes() / datatypes::layout::of(how.kind).size());
  if (how.what != collectives::operation::no_op) {
    array_form values(*operand, how.kind);
    values.read();
    base::copy_small(slot->data.data(), values.data(), bytes);
  }
  return ask(*slot, [&] {
    if (before == nullptr) return;
    array_form was(*before, how.kind);
    base::copy_small(was.data(), slot->data.data() + padded(bytes), bytes);
    was.write();
  });
}

std::optional<status> slot_way::compare_and_swap(const std::byte* value, const std::byte* expected,
                                                 std::byte* before,
                                                 const remote_data& where) noexcept {
  request_slot* const slot = claim();
  if (slot == nullptr) return std::nullopt;
  const auto bytes = bytes_of(where);
  slot->what = action::compare_and_swap;
  slot->kind = where.type->kind();
  slot->offset = where.block();
  slot->count = 1;
  base::copy_small(slot->data.data(), expected, bytes);
  base::copy_small(slot->data.data() + bytes, value, bytes);
  return ask(*slot,
             [&] { base::copy_small(before, slot->data.data() + padded(2 * bytes), bytes); });
}

request_slot* slot_way::claim() noexcept {
  if (const auto before = not_taken_.load(std::memory_order_relaxed); before != 0) [[unlikely]] {
    not_taken_.store(before + 1, std::memory_order_relaxed);
    if (wakes(before)) of_.wire.wake(of_.rank);
    if (!asks(before)) return nullptr;
  }
  for (auto& slot : of_.slots)
    if (slot.turn.claim()) return &slot;
  return nullptr;
}

template <class Take>
std::optional<status> slot_way::ask(request_slot& slot, Take take) noexcept {
  slot.turn.ask();
  const auto how = await(slot);
  if (how == outcome::lost) return status::lost;
  std::optional<status> answer;
  if (how == outcome::answered && slot.carried_out) {
    answer = slot.how;
    if (slot.how == status::ok) take();
  }
  slot.turn.leave();
  const auto before = not_taken_.load(std::memory_order_relaxed);
  if (how == outcome::answered && before != 0) not_taken_.store(0, std::memory_order_relaxed);
  if (how != outcome::answered && before == 0) not_taken_.store(1, std::memory_order_relaxed);
  return answer;
}

slot_way::outcome slot_way::await(request_slot& slot) noexcept {
  std::uint64_t until_ns = 0;
  for (unsigned looks = 1; !slot.turn.is_done(); ++looks) {
    of_.own.serve();
    base::relax();
    if (looks % looks_between_clock_reads != 0) continue;
    const auto now = base::now_ns();
    if (until_ns == 0) until_ns = now + patience_ns;
    if (now < until_ns) continue;
    return slot.turn.withdraw() ? outcome::not_answered : await_end(slot);
  }
  return outcome::answered;
}

/// The target's thread has lost its processor, or the process is stopped or has ended.
slot_way::outcome slot_way::await_end(request_slot& slot) noexcept {
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

}  // namespace headway::windows
