#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/lock_guard.hpp"
#include "base/thread_role.hpp"
#include "memory_of_this_process.hpp"
#include "windows/gathered_puts.hpp"
#include "windows/slot_service.hpp"

namespace headway::windows {
namespace {

using collectives::operation;
using datatypes::number;

/// A target with its memory, whose slots the test fills as an origin does.
struct target_of_slots {
  std::vector<std::int64_t> memory = std::vector<std::int64_t>(16, 0);
  exposed_memory exposed{reinterpret_cast<std::byte*>(memory.data()),
                         static_cast<std::int64_t>(memory.size() * sizeof(std::int64_t))};
  control_line line;
  std::unique_ptr<request_slots> slots = std::make_unique<request_slots>();
  lock_holder me = own_holder();
  std::vector<std::byte> staged_bytes = std::vector<std::byte>(staging::bytes);
  staging staged{staged_bytes.data()};
  memory_of_this_process copies;
  slot_service service{{.slots = *slots,
                        .staged = staged,
                        .memory = exposed,
                        .line = line,
                        .me = me,
                        .copies = &copies,
                        .processes = {rails::peer_id{0}}}};

  /// A request for one element, not yet asked. Null: no slot is free.
  request_slot* fill(slot_action what, std::int64_t offset, std::vector<std::int64_t> values,
                     operation op = operation::sum) {
    for (auto& slot : slots->all) {
      if (!slot.turn.claim()) continue;
      slot.what = what;
      slot.op = op;
      slot.kind = number::int64;
      slot.offset = offset;
      slot.count = 1;
      if (!values.empty())
        std::memcpy(slot.data.data(), values.data(), values.size() * sizeof values[0]);
      return &slot;
    }
    return nullptr;
  }
};

[[nodiscard]] std::int64_t value_in(const request_slot& slot, std::size_t at) {
  std::int64_t found = 0;
  std::memcpy(&found, slot.data.data() + at, sizeof found);
  return found;
}

/// Asks, lets the target serve once, and leaves the slot. Returns the value at `at`.
std::int64_t carry_out(target_of_slots& target, request_slot* slot, std::size_t at = 0) {
  slot->turn.ask();
  EXPECT_TRUE(target.service.serve());
  EXPECT_TRUE(slot->turn.is_done());
  EXPECT_TRUE(slot->carried_out);
  EXPECT_EQ(slot->how, status::ok);
  const auto found = value_in(*slot, at);
  slot->turn.leave();
  return found;
}

TEST(request_slot, carries_out_each_operation) {
  target_of_slots target;
  carry_out(target, target.fill(slot_action::put, 8, {5}));
  EXPECT_EQ(target.memory[1], 5);
  EXPECT_EQ(carry_out(target, target.fill(slot_action::get, 8, {})), 5);
  carry_out(target, target.fill(slot_action::accumulate, 8, {2}));
  EXPECT_EQ(target.memory[1], 7);
  EXPECT_EQ(carry_out(target, target.fill(slot_action::fetch, 8, {3}), 16), 7);
  EXPECT_EQ(target.memory[1], 10);
  EXPECT_EQ(carry_out(target, target.fill(slot_action::fetch, 8, {}, operation::no_op), 16), 10);
  EXPECT_EQ(target.memory[1], 10);
  EXPECT_EQ(carry_out(target, target.fill(slot_action::compare_and_swap, 8, {9, 1}), 16), 10);
  EXPECT_EQ(target.memory[1], 10) << "another value was expected";
  EXPECT_EQ(carry_out(target, target.fill(slot_action::compare_and_swap, 8, {10, 1}), 16), 10);
  EXPECT_EQ(target.memory[1], 1);
}

/// A request for these puts.
request_slot* fill(target_of_slots& target, const gathered_puts& puts) {
  request_slot* const slot = target.fill(slot_action::puts, 0, {});
  slot->kind = number::byte;
  slot->count = static_cast<std::uint32_t>(puts.bytes().size());
  std::ranges::copy(puts.bytes(), slot->data.begin());
  return slot;
}

void add(gathered_puts& puts, std::int64_t offset, std::int64_t value) {
  std::byte* const at = puts.add(offset, sizeof value);
  ASSERT_NE(at, nullptr);
  std::memcpy(at, &value, sizeof value);
}

TEST(request_slot, carries_out_several_puts) {
  target_of_slots target;
  gathered_puts puts;
  for (const std::int64_t i : {0, 1, 2, 7, 5, 6, 7}) add(puts, 8 * i, 10 * i + 1);
  EXPECT_LT(puts.bytes().size(), 7 * 16) << "those in a row are one block";
  carry_out(target, fill(target, puts));
  EXPECT_EQ(target.memory,
            (std::vector<std::int64_t>{1, 11, 21, 0, 0, 51, 61, 71, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(request_slot, puts_what_is_inside_of_the_window_and_says_that_some_is_not) {
  target_of_slots target;
  gathered_puts puts;
  add(puts, 0, 1);
  add(puts, -8, 2);
  add(puts, 16 * 8, 3);
  add(puts, 8, 4);
  request_slot* const slot = fill(target, puts);
  slot->turn.ask();
  EXPECT_TRUE(target.service.serve());
  EXPECT_TRUE(slot->turn.is_done());
  EXPECT_EQ(slot->how, status::out_of_range);
  EXPECT_EQ(target.memory[0], 1);
  EXPECT_EQ(target.memory[1], 4);
}

TEST(gathered_puts, gives_back_every_byte_that_was_added) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    gathered_puts puts;
    std::map<std::int64_t, std::byte> expected, seen;
    std::int64_t offset = 0;
    std::size_t count = 0;
    for (std::byte* at = nullptr;; ++count) {
      const auto bytes = random() % gathered_puts::put_bytes_max + 1;
      if (random() % 3 == 0) offset += static_cast<std::int64_t>(random() % 1000) - 200;
      at = puts.add(offset, static_cast<std::uint32_t>(bytes));
      if (at == nullptr) break;
      for (std::size_t i = 0; i < bytes; ++i)
        expected[offset++] = at[i] = static_cast<std::byte>(random());
    }
    EXPECT_GE(count, request_slot::data_bytes / (gathered_puts::put_bytes_max + 16));
    gathered_puts::for_each_block(puts.bytes(), [&](std::int64_t at, auto bytes) {
      for (const std::byte b : bytes) seen[at++] = b;
    });
    ASSERT_EQ(seen, expected);
    puts.clear();
    EXPECT_TRUE(puts.empty());
  }
}

TEST(gathered_puts, never_reads_beyond_what_a_peer_has_written) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> some(random() % 100);
    for (auto& b : some) b = static_cast<std::byte>(random() % 4);
    const auto* const end = some.data() + some.size();
    gathered_puts::for_each_block(some, [&](std::int64_t, std::span<const std::byte> bytes) {
      ASSERT_TRUE(some.data() <= bytes.data() && bytes.data() + bytes.size() <= end);
    });
  }
}

TEST(request_slot, refuses_what_is_outside_of_the_window) {
  target_of_slots target;
  request_slot* const slot = target.fill(slot_action::put, 16 * 8, {5});
  slot->turn.ask();
  EXPECT_TRUE(target.service.serve());
  EXPECT_TRUE(slot->turn.is_done());
  EXPECT_EQ(slot->how, status::out_of_range);
}

TEST(request_slot, does_nothing_while_others_change_elements) {
  target_of_slots target;
  request_slot* const slot = target.fill(slot_action::accumulate, 0, {5});
  if (!target.line.changing.try_lock(holder_of({.pid_namespace = 1, .pid = 1}))) {
    FAIL() << "it is not locked yet";
  }
  const base::lock_guard held(target.line.changing, std::adopt_lock);
  slot->turn.ask();
  EXPECT_TRUE(target.service.serve());
  EXPECT_TRUE(slot->turn.is_done());
  EXPECT_FALSE(slot->carried_out);
  EXPECT_EQ(target.memory[0], 0);
}

TEST(request_slot, leaves_alone_what_was_withdrawn) {
  target_of_slots target;
  request_slot* const slot = target.fill(slot_action::put, 0, {5});
  slot->turn.ask();
  EXPECT_TRUE(slot->turn.withdraw());
  EXPECT_FALSE(target.service.serve());
  EXPECT_EQ(target.memory[0], 0);
  slot->turn.ask();
  EXPECT_TRUE(target.service.serve());
  EXPECT_FALSE(slot->turn.withdraw()) << "it was carried out";
}

TEST(request_slot, has_no_more_than_its_number) {
  target_of_slots target;
  for (std::size_t i = 0; i < target.slots->all.size(); ++i)
    EXPECT_NE(target.fill(slot_action::get, 0, {}), nullptr);
  EXPECT_EQ(target.fill(slot_action::get, 0, {}), nullptr);
}

TEST(request_slot, changes_elements_by_a_staged_operand) {
  target_of_slots target;
  std::vector<std::int64_t> many(100, 3);
  exposed_memory large{reinterpret_cast<std::byte*>(many.data()),
                       static_cast<std::int64_t>(many.size() * sizeof many[0])};
  slot_service service{{.slots = *target.slots,
                        .staged = target.staged,
                        .memory = large,
                        .line = target.line,
                        .me = target.me}};
  request_slot* const slot = target.fill(slot_action::accumulate, 0, {});
  slot->count = 100;
  for (std::int64_t i = 0; i < 100; ++i)
    std::memcpy(target.staged.part_of(*target.slots, *slot) + i * 8, &i, sizeof i);
  slot->turn.ask();
  EXPECT_TRUE(service.serve());
  EXPECT_TRUE(slot->turn.is_done());
  EXPECT_TRUE(slot->carried_out);
  for (std::size_t i = 0; i < many.size(); ++i) EXPECT_EQ(many[i], 3 + static_cast<int>(i));
}

TEST(request_slot, copies_from_and_to_the_origin_if_its_thread_waits) {
  target_of_slots target;
  std::int64_t here = 7;
  const auto copy = [&](slot_action what, std::int32_t rank) {
    request_slot* const slot = target.fill(what, 8, {});
    const origin_memory at{.address = reinterpret_cast<std::uint64_t>(&here), .rank = rank};
    std::memcpy(slot->data.data(), &at, sizeof at);
    slot->turn.ask();
    EXPECT_TRUE(target.service.serve());
    const bool done = slot->turn.is_done() && slot->carried_out;
    slot->turn.leave();
    return done;
  };
  EXPECT_FALSE(copy(slot_action::pull, 0)) << "this thread does not wait";
  EXPECT_EQ(target.memory[1], 0);
  const base::waiting_thread_scope waits;
  EXPECT_FALSE(copy(slot_action::pull, 1)) << "there is no such rank";
  EXPECT_TRUE(copy(slot_action::pull, 0));
  EXPECT_EQ(target.memory[1], 7);
  target.memory[1] = 9;
  EXPECT_TRUE(copy(slot_action::push, 0));
  EXPECT_EQ(here, 9);
}

TEST(request_slot, shows_that_its_target_polls) {
  target_of_slots target;
  const auto before = target.slots->sign.rounds.load(std::memory_order_relaxed);
  EXPECT_FALSE(target.service.serve());
  EXPECT_NE(target.slots->sign.rounds.load(std::memory_order_relaxed), before);
}

// Origins add and withdraw what is not answered soon; two threads of the target serve.
TEST(request_slot, counts_exactly_what_was_answered) {
  constexpr int origins = 3, requests = 2'000;
  target_of_slots target;
  std::atomic<int> left{origins};
  std::atomic<long> answered{0};
  std::vector<std::thread> all;
  for (int i = 0; i < origins; ++i)
    all.emplace_back([&] {
      for (int n = 0; n < requests; ++n) {
        request_slot* const slot = target.fill(slot_action::fetch, 0, {1});
        if (slot == nullptr) continue;
        slot->turn.ask();
        for (int looks = n % 64; looks > 0 && !slot->turn.is_done(); --looks) base::relax();
        if (!slot->turn.withdraw()) {
          while (!slot->turn.is_done()) std::this_thread::yield();
          if (slot->carried_out) answered.fetch_add(1, std::memory_order_relaxed);
        }
        slot->turn.leave();
      }
      left.fetch_sub(1, std::memory_order_relaxed);
    });
  for (int i = 0; i < 2; ++i)
    all.emplace_back([&] {
      while (left.load(std::memory_order_relaxed) != 0)
        if (!target.service.serve()) std::this_thread::yield();
    });
  for (auto& each : all) each.join();
  EXPECT_EQ(target.memory[0], answered.load(std::memory_order_relaxed));
}

}  // namespace
}  // namespace headway::windows
