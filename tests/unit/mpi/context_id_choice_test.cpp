#include "mpi/communicators/context_id_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

using namespace headway::mpi;
using headway::messages::context_pair::first_free;

namespace {

using dice = std::mt19937;

std::uint32_t draw(dice& d, std::uint32_t low, std::uint32_t high) {
  return std::uniform_int_distribution<std::uint32_t>(low, high)(d);
}

/// One agreement: its members exchange their contributions by dissemination, a step at a time, in
/// the order that the test chooses.
class agreement {
 public:
  /// `tables[i]` is member i's.
  agreement(std::vector<context_ids*> tables, std::uint32_t seed) {
    for (context_ids* table : tables) members_.emplace_back(*table, seed, ++last_incarnation);
  }
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  [[nodiscard]] bool over(std::size_t i) const { return members_[i].state == member::over; }
  [[nodiscard]] bool over() const {
    return std::ranges::all_of(members_, [](const member& m) { return m.state == member::over; });
  }
  [[nodiscard]] std::uint32_t id(std::size_t i) const { return members_[i].choice.id(); }
  [[nodiscard]] std::uint64_t incarnation(std::size_t i) const {
    return members_[i].choice.incarnation();
  }
  [[nodiscard]] int rounds() const { return rounds_; }
  [[nodiscard]] std::size_t largest() const { return largest_; }

  /// Member `i` advances as far as the messages for it allow.
  void run(std::size_t i) {
    member& m = members_[i];
    if (m.state == member::idle) {
      m.choice.begin();
      m.state = member::running;
      next_step(i);
    }
    while (m.state == member::running && !m.inbox[m.distance].empty()) {
      const auto bytes = m.inbox[m.distance].front();
      m.inbox[m.distance].pop_front();
      ASSERT_EQ(bytes.size(), m.choice.incoming().size());
      std::memcpy(m.choice.incoming().data(), bytes.data(), bytes.size());
      m.choice.combine();
      m.distance *= 2;
      next_step(i);
    }
  }

 private:
  struct member {
    member(context_ids& table, std::uint32_t seed, std::uint64_t incarnation)
        : choice(table, seed, incarnation) {}
    enum { idle, running, over } state = idle;
    context_id_choice choice;
    std::size_t distance = 1;
    int round = 1;
    std::map<std::size_t, std::deque<std::vector<std::byte>>> inbox;  // by distance
  };

  void next_step(std::size_t i) {
    member& m = members_[i];
    while (m.distance >= size()) {
      if (m.choice.conclude()) {
        m.state = member::over;
        return;
      }
      m.distance = 1;
      rounds_ = std::max(rounds_, ++m.round);
    }
    const auto bytes = m.choice.contribution();
    largest_ = std::max(largest_, bytes.size());
    members_[(i + m.distance) % size()].inbox[m.distance].emplace_back(bytes.begin(), bytes.end());
  }

  static inline std::uint64_t last_incarnation = 0;
  std::deque<member> members_;
  int rounds_ = 1;
  std::size_t largest_ = 0;
};

void run_alone(agreement& a) {
  while (!a.over())
    for (std::size_t i = 0; i < a.size(); ++i) a.run(i);
}

std::vector<context_ids*> all_of(std::deque<context_ids>& tables) {
  std::vector<context_ids*> all;
  for (auto& each : tables) all.push_back(&each);
  return all;
}

TEST(context_id_choice, is_one_round_of_24_bytes_where_the_tables_are_alike) {
  for (std::size_t n = 1; n < 20; ++n) {
    std::deque<context_ids> tables(n);
    for (std::uint32_t turn = 0; turn < 5; ++turn) {
      agreement a(all_of(tables), turn);
      run_alone(a);
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(a.id(i), first_free + turn);
      EXPECT_EQ(a.rounds(), 1);
      EXPECT_EQ(a.largest(), n > 1 ? 24u : 0u);
    }
  }
}

TEST(context_id_choice, goes_to_the_window_of_the_member_that_has_the_most_communicators) {
  std::deque<context_ids> tables(3);
  for (std::uint32_t id = first_free; id < 1000; ++id) ASSERT_TRUE(tables[1].reserve(id));
  agreement a(all_of(tables), 1);
  run_alone(a);
  EXPECT_GE(a.id(0), 1000u);
  EXPECT_LT(a.id(0), 1024u);
  EXPECT_EQ(a.id(0), a.id(1));
  EXPECT_EQ(a.id(0), a.id(2));
  EXPECT_LE(a.rounds(), 3);
  EXPECT_EQ(a.largest(), 24u);
}

TEST(context_id_choice, finds_the_only_number_that_is_free_on_all) {
  dice d(1);
  for (const std::uint32_t only : {first_free, 63u, 64u, 5000u, 32767u}) {
    std::deque<context_ids> tables(4);
    for (std::uint32_t id = first_free; id < 32768; ++id) {
      if (id == only) continue;
      const auto taken_on = draw(d, 1, 15);
      for (std::uint32_t i = 0; i < 4; ++i)
        if ((taken_on >> i & 1) != 0) static_cast<void>(tables[i].reserve(id));
    }
    agreement a(all_of(tables), 2);
    run_alone(a);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(a.id(i), only);
  }
}

TEST(context_id_choice, results_in_none_on_all_members_if_no_number_is_free_on_all) {
  std::deque<context_ids> tables(3);
  for (std::uint32_t id = first_free; id < 32768; ++id)
    ASSERT_TRUE(tables[id % 3].reserve(id) && tables[(id + 1) % 3].reserve(id));
  agreement a(all_of(tables), 3);
  run_alone(a);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(a.id(i), context_id_none);
  for (std::uint32_t id = first_free; id < 32768; ++id)  // nothing was kept
    ASSERT_TRUE(tables[(id + 2) % 3].reserve(id));
  std::deque<context_ids> full(1);
  while (full[0].reserve_lowest() != context_id_none) {
  }
  full.emplace_back();
  agreement b(all_of(full), 4);
  run_alone(b);
  EXPECT_EQ(b.id(0), context_id_none);
  EXPECT_EQ(b.id(1), context_id_none);
}

TEST(context_id_choice, releases_its_number_when_it_is_abandoned) {
  context_ids table;
  {
    context_id_choice early(table, 1, 1);
    early.begin();
    early.give_up();
    context_id_choice late(table, 1, 2);
    late.begin();
  }
  EXPECT_EQ(table.reserve_lowest(), first_free);
}

/// Two agreements that two processes begin in opposite order: each holds what the other proposes.
TEST(context_id_choice, agreements_that_hold_each_others_number_both_end_with_another) {
  std::deque<context_ids> tables(2);
  agreement x(all_of(tables), 10), y({&tables[0], &tables[1]}, 20);
  x.run(0);
  y.run(1);
  y.run(0);
  x.run(1);
  while (!x.over() || !y.over())
    for (std::size_t i = 0; i < 2; ++i) {
      x.run(i);
      y.run(i);
    }
  EXPECT_EQ(x.id(0), x.id(1));
  EXPECT_EQ(y.id(0), y.id(1));
  EXPECT_NE(x.id(0), context_id_none);
  EXPECT_NE(y.id(0), context_id_none);
  EXPECT_NE(x.id(0), y.id(0));
}

/// Goal:   of the communicators that are open in a process at once, no two have one number; the
///         members of each have one incarnation of it, which no other has.
/// Method: processes open and close communicators of random members, many at once, in a random
///         order of all their steps; tables begin with random numbers taken, some nearly full.
TEST(context_id_choice, open_communicators_of_a_process_never_share_a_number) {
  for (std::uint32_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    dice d(seed);
    const std::uint32_t processes = draw(d, 2, 9);
    std::deque<context_ids> tables(processes);
    // Of the first 512 numbers; beyond, all are taken in every third world.
    for (auto& table : tables)
      for (std::uint32_t id = first_free; id < 32768; ++id) {
        const bool taken = id < 512 ? draw(d, 0, 7) == 0 : seed % 3 == 0;
        if (taken) static_cast<void>(table.reserve(id));
      }
    struct communicator {
      std::vector<std::uint32_t> members;
      std::unique_ptr<agreement> agreeing;
      std::vector<bool> closed;
    };
    std::vector<std::set<std::uint32_t>> open(processes);
    std::deque<communicator> all;
    std::set<std::uint64_t> incarnations;
    std::uint32_t begun = 0;
    for (int step = 0; step < 30'000; ++step) {
      if (all.size() < 12 && begun < 150) {
        communicator made;
        for (std::uint32_t p = 0; p < processes; ++p)
          if (draw(d, 0, 1) != 0) made.members.push_back(p);
        if (made.members.empty()) continue;
        std::vector<context_ids*> theirs;
        for (const auto p : made.members) theirs.push_back(&tables[p]);
        made.agreeing = std::make_unique<agreement>(theirs, begun++);
        made.closed.assign(made.members.size(), false);
        all.push_back(std::move(made));
      }
      if (all.empty()) break;
      const auto which = draw(d, 0, static_cast<std::uint32_t>(all.size() - 1));
      communicator& c = all[which];
      const auto i = draw(d, 0, static_cast<std::uint32_t>(c.members.size() - 1));
      const auto p = c.members[i];
      if (!c.agreeing->over(i)) {
        c.agreeing->run(i);
        if (!c.agreeing->over(i)) continue;
        ASSERT_NE(c.agreeing->id(i), context_id_none);
        ASSERT_TRUE(open[p].insert(c.agreeing->id(i)).second);
      } else if (c.agreeing->over() && !c.closed[i]) {
        for (std::size_t other = 0; other < c.members.size(); ++other) {
          ASSERT_EQ(c.agreeing->id(other), c.agreeing->id(i));
          ASSERT_EQ(c.agreeing->incarnation(other), c.agreeing->incarnation(i));
        }
        const bool is_first = std::ranges::count(c.closed, true) == 0;
        ASSERT_EQ(incarnations.insert(c.agreeing->incarnation(i)).second, is_first);
        c.closed[i] = true;
        open[p].erase(c.agreeing->id(i));
        tables[p].give_back(c.agreeing->id(i));
        if (std::ranges::count(c.closed, false) == 0) all.erase(all.begin() + which);
      }
    }
    EXPECT_TRUE(all.empty());  // all came to an end
    EXPECT_EQ(begun, 150u);
  }
}

}  // namespace
