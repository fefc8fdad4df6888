#include "windows/slot_service.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "base/copy_small.hpp"
#include "base/lock_guard.hpp"
#include "base/thread_role.hpp"
#include "progress/core/engine.hpp"
#include "progress/waiting/sleep_signs.hpp"
#include "windows/gathered_puts.hpp"
#include "windows/update.hpp"
#include "windows/wire.hpp"

namespace headway::windows {
namespace {

/// The longest that a wait spins on an oversubscribed machine (progress/waiting/spin_length.hpp).
constexpr std::uint64_t stays_awake_ns = 20'000;
/// An origin makes the last part of a large copy alone, and prepares the next.
constexpr std::uint64_t stays_awake_for_copies_ns = 100'000;

}  // namespace

slot_service::slot_service(parts of) noexcept
    : ltask("window slots",
            [](ltask& self) noexcept { return static_cast<slot_service&>(self).poll(); }),
      of_(std::move(of)) {}

void slot_service::start(progress::engine& engine) noexcept {
  HEADWAY_ASSERT(engine_ == nullptr);
  engine_ = &engine;
  clock_ = engine.clock();
  progress::sleep_signs::of_process().add(of_.slots.sign.wait_sleeps);
  engine.submit(*this);
}

void slot_service::stop() noexcept {
  auto* const engine = std::exchange(engine_, nullptr);
  if (engine == nullptr) return;
  static_cast<void>(engine->cancel(*this));
  progress::sleep_signs::of_process().remove(of_.slots.sign.wait_sleeps);
}

progress::ltask_result slot_service::poll() noexcept {
  if (serve()) {
    if (base::thread_waits()) expect_until(clock_.now_ns() + stays_awake_ns);
    return progress::ltask_result::advanced;
  }
  const auto until_ns = expected_until_ns_.load(std::memory_order_relaxed);
  if (until_ns == 0 || !base::thread_waits()) return progress::ltask_result::idle;
  if (clock_.now_ns() < until_ns) return progress::ltask_result::advanced;
  expected_until_ns_.store(0, std::memory_order_relaxed);
  return progress::ltask_result::idle;
}

void slot_service::expect() noexcept { expect_until(clock_.now_ns() + stays_awake_for_copies_ns); }

void slot_service::expect_until(std::uint64_t ns) noexcept {
  if (expected_until_ns_.load(std::memory_order_relaxed) < ns)
    expected_until_ns_.store(ns, std::memory_order_relaxed);
}

/// Of concurrent rounds one may be lost, but the number changes.
bool slot_service::serve() noexcept {
  auto& rounds = of_.slots.sign.rounds;
  rounds.store(rounds.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  bool any = false;
  for (auto& slot : of_.slots.all)
    if (slot.turn.is_asked()) [[unlikely]]
      any |= serve(slot);
  return any;
}

bool slot_service::serve(request_slot& slot) noexcept {
  if (!slot.turn.begin()) return false;
  slot.carried_out = true;
  exposed_memory::exposures.returns();
  carry_out(slot);
  exposed_memory::changes.leaves();
  slot.turn.finish();
  return true;
}

/// Its data is what is put, or was got; or an operand, and behind it what was there; or an expected
/// value, the new one, and what was there. What was there begins at a multiple of 16.
void slot_service::carry_out(request_slot& slot) noexcept {
  if (slot.what == slot_action::puts) return put_all(slot);
  const auto& one = datatypes::layout::of(slot.kind);
  const auto bytes = static_cast<std::size_t>(slot.count * one.size());
  std::byte* const there = of_.memory.at(slot.offset, static_cast<std::int64_t>(bytes));
  slot.how = there != nullptr ? status::ok : status::out_of_range;
  if (there == nullptr) return;
  if (slot.what == slot_action::pull || slot.what == slot_action::push) {
    slot.carried_out = copy(slot, there, bytes);
    return;
  }
  std::byte* const data = operand_of(slot, bytes);
  if (data == nullptr) {
    slot.how = status::out_of_range;
    return;
  }
  if (slot.what == slot_action::put) return base::copy_small(there, data, bytes);
  if (slot.what == slot_action::get) return base::copy_small(data, there, bytes);
  if (!of_.line.changing.try_lock(of_.me)) {
    slot.carried_out = false;
    return;
  }
  const base::lock_guard held(of_.line.changing, std::adopt_lock);
  if (slot.what == slot_action::compare_and_swap)
    return compare_and_swap(there, bytes, data, data + bytes, data + padded(2 * bytes));
  const auto how = update::of({slot.op, slot.kind});
  if (!how) return;  // the origin has checked it
  const bool fetches = slot.what == slot_action::fetch;
  how->apply(there, slot.count, data, fetches ? data + padded(bytes) : nullptr);
}

void slot_service::put_all(request_slot& slot) noexcept {
  const auto all = std::span<const std::byte>(slot.data);
  slot.how = status::ok;
  gathered_puts::for_each_block(all.first(std::min<std::size_t>(slot.count, all.size())),
                                [&](std::int64_t offset, std::span<const std::byte> bytes) {
                                  std::byte* const there = of_.memory.at(
                                      offset, static_cast<std::int64_t>(bytes.size()));
                                  if (there == nullptr) slot.how = status::out_of_range;
                                  else base::copy_small(there, bytes.data(), bytes.size());
                                });
}

std::byte* slot_service::operand_of(request_slot& slot, std::size_t bytes) noexcept {
  if (bytes <= slot.data.size()) return slot.data.data();
  const bool is_staged = slot.what == slot_action::accumulate && of_.staged.at != nullptr &&
                         bytes <= staging::part_bytes;
  return is_staged ? of_.staged.part_of(of_.slots, slot) : nullptr;
}

bool slot_service::copy(const request_slot& slot, std::byte* there, std::size_t bytes) noexcept {
  origin_memory from;
  std::memcpy(&from, slot.data.data(), sizeof from);
  const auto rank = static_cast<std::size_t>(from.rank);
  if (!base::thread_waits() || of_.copies == nullptr || rank >= of_.processes.size()) return false;
  const auto process = of_.processes[rank];
  if (!of_.copies->limits_to(process).direct) return false;
  const auto place = rails::direct_place(from.address, bytes);
  const auto how = slot.what == slot_action::pull
                       ? of_.copies->get(process, place, {there, bytes}, 0)
                       : of_.copies->put(process, place, {there, bytes}, 0);
  expect();
  return how == rails::post::done;
}

}  // namespace headway::windows
