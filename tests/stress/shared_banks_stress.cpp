// Goal:   exchanges through shared memory give every rank what the others show, whichever thread
//         advances them: the one that has called the operation, or any poller; several under way.
// Method: three ranks in one process, each with an engine of its own, and small banks in plain
//         memory, so that streams go round in them; ranks pause at random, so that others stop
//         looking and wait. On a ring, each rank has one reader and waits for one rank. Between
//         them blocking operations without a schedule. Also run under ThreadSanitizer (preset
//         tsan).

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/neighbors.hpp"
#include "collectives/operators.hpp"
#include "collectives/schedule_cache.hpp"
#include "collectives/shared_banks.hpp"
#include "tests/stress/plain_slots.hpp"
#include "tests/stress/thread_ranks.hpp"

namespace headway::collectives {
namespace {

constexpr std::uint32_t ranks = 3;
constexpr int rounds = 150;
constexpr std::int64_t bank_bytes = 4096;
constexpr std::int64_t words_max = 3000;
const auto& word_type = datatypes::layout::of(datatypes::number::int64);

/// An operation of one rank, with its buffers.
struct call {
  std::array<int, 1> previous, next;  // the neighbours on a one-way ring
  schedule_ptr steps = new_schedule();
  std::vector<std::int64_t> send, receive, expected;
};

std::int64_t value(int number, int rank, std::int64_t i) {
  return std::int64_t{number} * 1000003 + rank * 10007 + i;
}

/// The `number`-th operation; all ranks make the same.
std::unique_ptr<call> make(int number, team& t) {
  auto c = std::make_unique<call>();
  std::minstd_rand random(static_cast<unsigned>(number) + 1);
  const auto n = static_cast<std::int64_t>(random() % 4 == 0 ? random() % words_max : random() % 9);
  const auto count = static_cast<std::size_t>(n);
  const int root = number % t.size;
  for (std::int64_t i = 0; i < n; ++i) c->send.push_back(value(number, t.rank, i));
  const auto sum = *predefined(operation::sum, datatypes::number::int64);
  switch (random() % 4) {
    case 0:
      if (t.rank != root) c->send.assign(count, 0);
      bcast_shared(*c->steps, t, {c->send.data(), n, &word_type}, root);
      c->receive.swap(c->send);
      for (std::int64_t i = 0; i < n; ++i) c->expected.push_back(value(number, root, i));
      break;
    case 1:
      c->receive.resize(count);
      (random() % 2 == 0 ? allreduce_shared : allreduce_shared_parts)(*c->steps, t,
                                                                      {.send = c->send.data(),
                                                                       .receive = c->receive.data(),
                                                                       .count = n,
                                                                       .type = &word_type,
                                                                       .op = sum});
      for (std::int64_t i = 0; i < n; ++i)
        c->expected.push_back(value(number, 0, i) + value(number, 1, i) + value(number, 2, i));
      break;
    case 2: {
      static edge_ends edges = {{.block = 0, .blocks = 1}};
      t.memory.edges = &edges;
      c->previous = {(t.rank + t.size - 1) % t.size};
      c->next = {(t.rank + 1) % t.size};
      c->receive.resize(count);
      const neighborhood ring{.sources = c->previous, .destinations = c->next};
      neighbor_alltoall_shared(*c->steps, t, ring,
                               {.data = c->send.data(), .type = &word_type, .count = n},
                               {.data = c->receive.data(), .type = &word_type, .count = n});
      for (std::int64_t i = 0; i < n; ++i) c->expected.push_back(value(number, c->previous[0], i));
      break;
    }
    default: {
      c->receive.resize(count * ranks);
      const block mine{c->send.data(), n, &word_type};
      allgather_shared(*c->steps, t, &mine,
                       {.data = c->receive.data(), .type = &word_type, .count = n});
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        for (std::int64_t i = 0; i < n; ++i)
          c->expected.push_back(value(number, static_cast<int>(rank), i));
    }
  }
  c->steps->bind(t);
  return c;
}

/// A blocking operation between the neighbours of a ring in both directions, of blocks that fit
/// into lines or are a little too long. Which way a rank goes depends on whether exchanges are
/// under way here, and on when the others come.
void exchange_with_both(int number, team& t) {
  static const edge_ends edges = {{.block = 1, .blocks = 2}, {.block = 0, .blocks = 2}};
  t.memory.edges = &edges;
  const std::array<int, 2> both = {(t.rank + t.size - 1) % t.size, (t.rank + 1) % t.size};
  const neighborhood ring{.sources = both, .destinations = both};
  const auto n = std::int64_t{number % 4};
  std::array<std::int64_t, 6> send = {}, receive = {}, expected = {};
  for (std::int64_t i = 0; i < 2 * n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int source = both[at / static_cast<std::size_t>(n)];
    send[at] = value(number, t.rank, i);
    expected[at] = value(number, source, i < n ? i + n : i - n);  // from the opposite direction
  }
  const blocks from{.data = send.data(), .type = &word_type, .count = n};
  const blocks to{.data = receive.data(), .type = &word_type, .count = n};
  if (!neighbor_alltoall_in_lines(t, ring, from, to)) {
    const auto steps = new_schedule();
    neighbor_alltoall(*steps, t, ring, from, to);
    steps->bind(t);
    ASSERT_EQ(steps->run(), messages::outcome::ok);
  }
  ASSERT_EQ(receive, expected) << "operation " << number;
}

/// All ranks begin the same operations in the same order; some are waited for later.
void run_all(team& t, progress::engine& engine) {
  std::minstd_rand pauses(static_cast<unsigned>(t.rank) + 1);
  for (int round = 0; round < rounds; ++round) {
    if (pauses() % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(pauses() % 1000));
    std::vector<std::unique_ptr<call>> begun;
    for (int i = 0; i < round % 4; ++i) {
      begun.push_back(make(4 * round + i, t));
      begun.back()->steps->start();
    }
    for (int i = 0; i < 3; ++i) exchange_with_both(round + i, t);
    const auto blocking = make(4 * round + 3, t);
    ASSERT_EQ(blocking->steps->run(), messages::outcome::ok);
    ASSERT_EQ(blocking->receive, blocking->expected) << "round " << round;
    for (auto& c : begun) {
      engine.wait(*c->steps);
      ASSERT_EQ(c->steps->how(), messages::outcome::ok);
      ASSERT_EQ(c->receive, c->expected) << "round " << round;
    }
    for (int i = 0; i < 3; ++i) exchange_with_both(round + i, t);
  }
}

TEST(shared_banks_stress, every_rank_reads_what_the_others_show) {
  alignas(64) static std::array<plain_slots::bank_memory, ranks> memory;
  for_each_thread_rank(
      [] {
        for (auto& each : memory) each.fill(std::byte{0});
      },
      [](team& all, std::span<const rails::peer_id> processes, progress::engine& engine) {
        plain_slots slots({}, memory);
        shared_banks banks(all, slots, processes, 0, bank_bytes);
        all.memory.banks = &banks;
        run_all(all, engine);
      });
}

}  // namespace
}  // namespace headway::collectives
