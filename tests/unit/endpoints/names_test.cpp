#include "endpoints/names/names.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "topology/machine.hpp"

namespace headway::endpoints::names_tests {
namespace {

TEST(directory, gives_a_name_once_and_returns_the_questions_for_it) {
  directory d;
  EXPECT_EQ(d.ask("a", {3, 1}, true).id, 0u);
  EXPECT_EQ(d.ask("a", {4, 2}, false).id, 0u);
  std::vector<endpoints::inquiry> waited;
  EXPECT_TRUE(d.add("a", {1, 7}, waited));
  ASSERT_EQ(waited.size(), 1u);
  EXPECT_EQ(waited[0], (endpoints::inquiry{3, 1}));
  EXPECT_TRUE(d.add("a", {1, 7}, waited)) << "by the same end-point again";
  EXPECT_FALSE(d.add("a", {2, 7}, waited));
  EXPECT_EQ(d.ask("a", {5, 1}, true), (address{1, 7}));
  std::set<std::uint32_t> told;
  EXPECT_FALSE(d.remove("a", {2, 7}, told));
  EXPECT_TRUE(d.remove("a", {1, 7}, told));
  EXPECT_EQ(told, (std::set<std::uint32_t>{3, 5}));
}

TEST(directory, forgets_a_process_with_its_names_and_questions) {
  directory d;
  std::vector<endpoints::inquiry> waited;
  EXPECT_TRUE(d.add("a", {1, 7}, waited));
  EXPECT_EQ(d.ask("b", {1, 1}, true).id, 0u);
  EXPECT_EQ(d.ask("b", {2, 1}, true).id, 0u);
  d.forget({2, 1});
  d.drop_process(1);
  EXPECT_EQ(d.size(), 0u);
  EXPECT_EQ(d.question_count(), 0u);
  EXPECT_TRUE(d.add("b", {3, 3}, waited));
  EXPECT_TRUE(waited.empty());
}

TEST(directory, refuses_names_beyond_its_limit) {
  directory d(100);
  std::vector<endpoints::inquiry> waited;
  for (std::uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(d.add(std::to_string(i), {1, 1}, waited));
  EXPECT_TRUE(d.full());
  EXPECT_FALSE(d.add("one more", {1, 2}, waited));
  EXPECT_TRUE(d.add("7", {1, 1}, waited)) << "names that are there stay";
}

TEST(names, of_a_dead_process_move_and_others_stay) {
  int moved = 0;
  for (int i = 0; i < 1'000; ++i) {
    const auto name = "name/" + std::to_string(i);
    const auto best = [&](std::uint32_t without) {
      std::uint32_t found = 0;
      std::uint64_t most = 0;
      for (std::uint32_t p = 0; p < 8; ++p)
        if (p != without && endpoints::score_of(name, p) >= most) {
          most = endpoints::score_of(name, p);
          found = p;
        }
      return found;
    };
    const auto before = best(8), after = best(3);
    if (before == 3) ++moved;
    if (before != 3) {
      EXPECT_EQ(before, after);
    }
  }
  EXPECT_GT(moved, 60);
  EXPECT_LT(moved, 200);
}

/// The name services of some processes in one, and packets between them that arrive when `carry`
/// is called.
class small_job {
 public:
  explicit small_job(std::uint32_t count) {
    for (std::uint32_t p = 0; p < count; ++p)
      all_.push_back(std::make_unique<process>(*this, p, count));
  }
  endpoints::names& at(std::uint32_t p) { return all_[p]->service; }
  void carry() {
    while (!packets_.empty()) {
      const packet one = packets_.front();
      packets_.pop_front();
      if (!all_[one.to]->dead && !all_[one.from]->dead)
        at(one.to).arrived(one.from, one.head, one.name);
    }
  }
  void kill(std::uint32_t p) {
    all_[p]->dead = true;
    for (std::uint32_t q = 0; q < all_.size(); ++q)
      if (q != p) at(q).lost(p);
  }

 private:
  struct packet {
    std::uint32_t from, to;
    endpoints::name_head head;
    std::string name;
  };
  struct process final : endpoints::name_transport {
    process(small_job& in, std::uint32_t number, std::uint32_t count)
        : of(in),
          self(number),
          engine(progress::engine::start(*in.machine_, {.points = progress::polling::off}).value()),
          service(*this, *engine, number, count) {}
    void deliver(std::uint32_t to, const endpoints::name_head& head,
                 std::string_view name) override {
      if (to == self) return service.arrived(self, head, name);
      ++of.posted;
      of.packets_.push_back({self, to, head, std::string(name)});
      if (!of.slow) of.carry();
    }
    small_job& of;
    const std::uint32_t self;
    bool dead = false;
    std::unique_ptr<progress::engine> engine;
    endpoints::names service;
  };
  std::unique_ptr<topology::machine> machine_ = topology::machine::read().value();
  std::deque<packet> packets_;
  std::vector<std::unique_ptr<process>> all_;

 public:
  bool slow = false;
  int posted = 0;  ///< packets that left a process
};

std::uint64_t soon() { return base::machine_now_ns() + 20'000'000; }

TEST(names, are_found_from_everywhere_and_survive_their_keepers_death) {
  small_job t(4);
  for (std::uint32_t i = 0; i < 40; ++i)
    ASSERT_EQ(t.at(0).claim("n/" + std::to_string(i), i + 1, soon()), outcome::ok);
  address who;
  for (std::uint32_t i = 0; i < 40; ++i) {
    ASSERT_EQ(t.at(i % 4).find("n/" + std::to_string(i), 0, who), outcome::ok);
    EXPECT_EQ(who, (address{0, i + 1}));
  }
  t.kill(3);
  t.kill(2);
  t.carry();
  for (std::uint32_t i = 0; i < 40; ++i)
    ASSERT_EQ(t.at(1).find("n/" + std::to_string(i), 0, who), outcome::ok);
  EXPECT_EQ(t.at(1).claim("n/5", 9, soon()), outcome::taken);
  t.kill(0);
  for (std::uint32_t i = 0; i < 40; ++i)
    EXPECT_EQ(t.at(1).find("n/" + std::to_string(i), 0, who), outcome::not_found);
}

TEST(names, of_a_process_that_we_know_to_be_dead_are_not_believed_of_keepers_that_do_not) {
  small_job t(3);
  for (std::uint32_t i = 0; i < 20; ++i)
    ASSERT_EQ(t.at(2).claim("n/" + std::to_string(i), i + 1, soon()), outcome::ok);
  t.at(0).lost(2);
  address who;
  int there = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const auto name = "n/" + std::to_string(i);
    EXPECT_EQ(t.at(0).find(name, 0, who), outcome::not_found);
    there += t.at(1).find(name, 0, who) == outcome::ok;
  }
  EXPECT_GT(there, 0);
  EXPECT_EQ(t.at(0).find("n/1", soon(), who), outcome::timed_out);
}

TEST(names, an_answer_that_was_not_asked_for_is_ignored) {
  small_job t(3);
  t.at(0).arrived(1, {.kind = endpoints::wire_kind::name_told, .status = 1, .token = 1, .id = 9},
                  "forged");
  address who;
  EXPECT_EQ(t.at(0).find("forged", 0, who), outcome::not_found);
}

TEST(names, are_asked_for_once_and_then_remembered) {
  small_job t(3);
  address who;
  const auto find_all = [&] {
    for (std::uint32_t i = 0; i < 20; ++i)
      for (std::uint32_t p = 0; p < 3; ++p)
        ASSERT_EQ(t.at(p).find("n/" + std::to_string(i), 0, who), outcome::ok);
  };
  for (std::uint32_t i = 0; i < 20; ++i)
    ASSERT_EQ(t.at(0).claim("n/" + std::to_string(i), i + 1, soon()), outcome::ok);
  const int claimed = t.posted;
  find_all();
  const int found = t.posted;
  EXPECT_GT(found, claimed);
  find_all();
  EXPECT_EQ(t.posted, found);
}

TEST(names, that_are_withdrawn_are_dropped_where_they_were_cached) {
  small_job t(3);
  ASSERT_EQ(t.at(0).claim("x", 1, soon()), outcome::ok);
  address who;
  for (std::uint32_t p = 0; p < 3; ++p) ASSERT_EQ(t.at(p).find("x", 0, who), outcome::ok);
  t.at(0).give_up("x", 1);
  for (std::uint32_t p = 0; p < 3; ++p) EXPECT_EQ(t.at(p).find("x", 0, who), outcome::not_found);
}

TEST(names, an_unanswered_question_ends_at_its_deadline_and_leaves_nothing) {
  small_job t(2);
  address who;
  EXPECT_EQ(t.at(0).find("nobody", soon(), who), outcome::timed_out);
  EXPECT_EQ(t.at(1).find("nobody", soon(), who), outcome::timed_out);
  ASSERT_EQ(t.at(0).claim("nobody", 1, soon()), outcome::ok);
  EXPECT_EQ(t.at(1).find("nobody", 0, who), outcome::ok);
}

TEST(names, a_question_whose_keeper_dies_is_asked_again_of_the_next) {
  small_job t(4);
  std::string name = "0";
  const auto kept_by_3 = [&] {
    for (std::uint32_t p = 0; p < 3; ++p)
      if (endpoints::score_of(name, p) >= endpoints::score_of(name, 3)) return false;
    return true;
  };
  for (int i = 1; !kept_by_3(); ++i) name = std::to_string(i);
  t.slow = true;
  endpoints::question q;
  t.at(0).start_find(q, name, true);
  t.kill(3);  // the question was under way
  t.slow = false;
  t.carry();
  EXPECT_FALSE(q.test());
  ASSERT_EQ(t.at(1).claim(name, 5, soon()), outcome::ok);
  ASSERT_TRUE(q.test());
  EXPECT_EQ(q.how, outcome::ok);
  EXPECT_EQ(q.owner, (address{1, 5}));
}

TEST(names, a_question_that_is_taken_back_is_not_answered) {
  small_job t(2);
  endpoints::question q;
  t.at(0).start_find(q, "late", true);
  EXPECT_TRUE(t.at(0).cancel(q));
  ASSERT_EQ(t.at(1).claim("late", 1, soon()), outcome::ok);
  EXPECT_FALSE(q.test());
  endpoints::question other;
  t.at(0).start_find(other, "late", true);
  EXPECT_TRUE(other.test());
  EXPECT_FALSE(t.at(0).cancel(other)) << "it is complete";
}

}  // namespace
}  // namespace headway::endpoints::names_tests
