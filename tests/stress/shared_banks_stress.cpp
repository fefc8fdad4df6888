// Goal:   exchanges through shared memory give every rank what the others show, whichever thread
//         advances them: the one that has called the operation, or any poller; several under way.
//         Persistent ones, in banks of their own, also if each rank starts them in its own order,
//         and frees them in another one.
// Method: two ranks, which pass areas to each other, and three, in one process, each with an
//         engine of its own, and small banks in plain memory, so that streams go round in them;
//         ranks pause at random, so that others stop looking and wait. On a ring, each rank has one
//         reader and waits for one rank. Between them blocking operations without a schedule. Also
//         run under ThreadSanitizer (preset tsan).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "collectives/algorithms.hpp"
#include "collectives/collectives.hpp"
#include "collectives/neighbors.hpp"
#include "collectives/operators.hpp"
#include "collectives/persistent_banks.hpp"
#include "collectives/schedule_cache.hpp"
#include "collectives/shared_banks.hpp"
#include "tests/stress/plain_slots.hpp"
#include "tests/stress/thread_ranks.hpp"

namespace headway::collectives {
namespace {

constexpr int rounds = 150;
constexpr std::int64_t bank_bytes = 4096;
constexpr std::int64_t words_max = 3000;
const auto& word_type = datatypes::layout::of(datatypes::number::int64);

enum class kind : std::uint8_t { bcast, allreduce, ring, allgather };

/// An operation of one rank, with its buffers.
struct call {
  int number;
  kind what;
  int root;
  std::array<int, 1> previous, next;  // the neighbours on a one-way ring
  schedule_ptr steps = new_schedule();
  std::vector<std::int64_t> send, receive, expected;
};

std::int64_t value(int number, int rank, std::int64_t i) {
  return std::int64_t{number} * 1000003 + rank * 10007 + i;
}

/// Gives this rank's buffers new values before a start.
void fill(call& c, const team& t, int round) {
  const auto from = [&](int rank, std::int64_t i) { return value(c.number + 7 * round, rank, i); };
  const auto n = static_cast<std::int64_t>(c.send.size());
  for (std::int64_t i = 0; i < n; ++i) c.send[static_cast<std::size_t>(i)] = from(t.rank, i);
  std::ranges::fill(c.receive, -1);
  if (c.what == kind::bcast && t.rank == c.root) c.receive = c.send;
  c.expected.clear();
  for (int rank = 0; rank < (c.what == kind::allgather ? t.size : 1); ++rank)
    for (std::int64_t i = 0; i < n; ++i) switch (c.what) {
        case kind::bcast:
          c.expected.push_back(from(c.root, i));
          break;
        case kind::allreduce:
          c.expected.push_back(0);
          for (int each = 0; each < t.size; ++each) c.expected.back() += from(each, i);
          break;
        case kind::ring:
          c.expected.push_back(from(c.previous[0], i));
          break;
        case kind::allgather:
          c.expected.push_back(from(rank, i));
      }
}

/// The `number`-th operation; all ranks make the same. `own`: it is persistent.
std::unique_ptr<call> make(int number, team& t, persistent_banks* own = nullptr) {
  auto c = std::make_unique<call>();
  std::minstd_rand random(static_cast<unsigned>(number) + 1);
  const auto n =
      static_cast<std::int64_t>(random() % 4 == 0 ? random() % words_max : random() % 15);
  c->number = number;
  c->what = static_cast<kind>(random() % 4);
  c->root = number % t.size;
  c->send.resize(static_cast<std::size_t>(n));
  c->receive.resize(static_cast<std::size_t>(c->what == kind::allgather ? t.size * n : n));
  if (own) own->begin(*c->steps);
  switch (c->what) {
    case kind::bcast:
      bcast_shared(*c->steps, t, {c->receive.data(), n, &word_type}, c->root);
      break;
    case kind::allreduce:
      (random() % 2 == 0 ? allreduce_shared : allreduce_shared_parts)(
          *c->steps, t,
          {.send = c->send.data(),
           .receive = c->receive.data(),
           .count = n,
           .type = &word_type,
           .op = *predefined(operation::sum, datatypes::number::int64)});
      break;
    case kind::ring: {
      static edge_ends edges = {{.block = 0, .blocks = 1}};
      t.memory.edges = &edges;
      c->previous = {(t.rank + t.size - 1) % t.size};
      c->next = {(t.rank + 1) % t.size};
      const neighborhood ring{.sources = c->previous, .destinations = c->next};
      neighbor_alltoall_shared(*c->steps, t, ring,
                               {.data = c->send.data(), .type = &word_type, .count = n},
                               {.data = c->receive.data(), .type = &word_type, .count = n});
      break;
    }
    case kind::allgather: {
      const block mine{c->send.data(), n, &word_type};
      allgather_shared(*c->steps, t, &mine,
                       {.data = c->receive.data(), .type = &word_type, .count = n});
    }
  }
  if (own) {
    EXPECT_TRUE(own->settle(*c->steps, true));
  }
  c->steps->bind(t);
  fill(*c, t, 0);
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
    steps->bind(t, {.what = collectives::collective::neighbor_alltoall});
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

/// Each rank starts the same persistent operations in an order of its own, and waits in another.
void run_persistent(team& t, persistent_banks& own, progress::engine& engine) {
  std::minstd_rand order(static_cast<unsigned>(t.rank) + 1);
  for (int made = 0; made < 10; ++made) {
    std::vector<std::unique_ptr<call>> all;
    for (int i = 0; i < 8; ++i) {
      all.push_back(make(8 * made + i, t, &own));
      ASSERT_TRUE(all.back()->steps->banks_of(t));
    }
    for (int round = 0; round < 12; ++round) {
      std::ranges::shuffle(all, order);
      for (auto& c : all) {
        fill(*c, t, round);
        c->steps->start();
      }
      if (order() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(order() % 1000));
      std::ranges::shuffle(all, order);
      for (auto& c : all) {
        engine.wait(*c->steps);
        ASSERT_EQ(c->steps->how(), messages::outcome::ok);
        ASSERT_EQ(c->receive, c->expected) << "operation " << c->number << ", round " << round;
      }
    }
    // Made by all ranks in the same order, but freed in another one on each.
  }
}

/// The memory of a rank for persistent operations, which nothing else uses.
struct persistent_memory {
  rails::shm_slots& slots;
  passed_areas* areas;  ///< of two ranks
};

/// Calls `body(team, memory, processes, engine)` for each of two and of three ranks. The team has
/// banks.
template <class Body>
void for_each_rank_with_banks(const Body& body) {
  alignas(
      rails::shm_slots::line_bytes) static std::array<plain_slots::bank_memory, thread_ranks_max>
      memory, own_memory;
  for (const auto ranks : {2u, 3u})
    for_each_thread_rank(
        [] {
          for (auto* all : {&memory, &own_memory})
            for (auto& each : *all) each.fill(std::byte{0});
        },
        [&](team& all, std::span<const rails::peer_id> processes, progress::engine& engine) {
          plain_slots slots({}, memory), own_slots({}, own_memory);
          std::optional<passed_areas> areas;
          if (all.size == 2) {
            const auto own = static_cast<std::size_t>(all.rank);
            areas.emplace(slots, 0, processes[own], processes[1 - own]);
          }
          auto* const passed = areas ? &*areas : nullptr;
          shared_banks banks(all, slots, processes,
                             {.slot = 0, .bytes = bank_bytes, .passed = passed});
          all.memory.banks = &banks;
          body(all, persistent_memory{own_slots, passed}, processes, engine);
        },
        ranks);
}

TEST(shared_banks_stress, every_rank_reads_what_the_others_show) {
  for_each_rank_with_banks([](team& all, const persistent_memory&, std::span<const rails::peer_id>,
                              progress::engine& engine) { run_all(all, engine); });
}

TEST(shared_banks_stress, persistent_operations_have_an_order_of_their_own_on_each_rank) {
  for_each_rank_with_banks([](team& all, const persistent_memory& memory,
                              std::span<const rails::peer_id> processes, progress::engine& engine) {
    persistent_banks own(all, all, memory.slots, processes, 0, memory.areas);
    run_persistent(all, own, engine);
  });
}

/// Makes a persistent allreduce, which `wants` banks on this rank or not. How often its steps were
/// built.
int build_persistent(schedule& s, team& t, persistent_banks& own, std::array<std::int64_t, 2>& data,
                     bool wants) {
  const reduction r{.send = data.data(),
                    .receive = &data[1],
                    .count = 1,
                    .type = &word_type,
                    .op = *predefined(operation::sum, datatypes::number::int64)};
  own.begin(s);
  allreduce(s, t, r);
  if (own.settle(s, wants)) return 1;
  EXPECT_TRUE(s.steps().empty());
  EXPECT_FALSE(s.banks_of(t));
  allreduce(s, t, r);
  return 2;
}

TEST(persistent_banks, have_steps_built_once_and_again_only_where_a_rank_wants_none) {
  for_each_rank_with_banks([](team& all, const persistent_memory& memory,
                              std::span<const rails::peer_id> processes, progress::engine& engine) {
    for (const auto use : {algorithm::shared, algorithm::doubling})
      for (const int without : {-1, 0, all.size - 1}) {
        persistent_banks own(all, all, memory.slots, processes, 0, memory.areas);
        all.chosen_by_user.forced[static_cast<std::size_t>(collective::allreduce)] = use;
        const bool exchanged = use == algorithm::shared;
        const bool wants = all.rank != without;
        std::array<std::int64_t, 2> data = {all.rank + 1, 0};
        const auto steps = new_schedule();
        const int built = build_persistent(*steps, all, own, data, wants);
        ASSERT_EQ(built, (exchanged ? without == -1 : wants) ? 1 : 2);
        ASSERT_EQ(steps->banks_of(all) != nullptr, exchanged && without == -1);
        steps->bind(all);
        for (int round = 0; round < 3; ++round) {
          data[1] = 0;
          steps->start();
          engine.wait(*steps);
          ASSERT_EQ(data[1], all.size * (all.size + 1) / 2);
        }
      }
  });
}

}  // namespace
}  // namespace headway::collectives
