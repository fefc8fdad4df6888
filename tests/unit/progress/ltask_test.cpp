#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fixture.hpp"
#include "progress/core/engine.hpp"

namespace headway::progress::testing::ltask_tests {
namespace {

struct counting : ltask {
  explicit counting(ltask_kind kind, int most = 1 << 30)
      : ltask("counting", &run, kind), left(most) {}
  static ltask_result run(ltask& self) noexcept {
    auto& me = static_cast<counting&>(self);
    ++me.runs;
    return --me.left > 0 ? ltask_result::advanced : ltask_result::done;
  }
  std::atomic<int> runs{0};
  int left;
};

TEST(ltask, runs_a_one_shot_once) {
  running e(polling::off);
  counting task(ltask_kind::one_shot);
  e->submit(task);
  EXPECT_TRUE(e->poll());
  EXPECT_FALSE(e->poll());
  EXPECT_EQ(task.runs, 1);
}

TEST(ltask, repeats_until_done) {
  running e(polling::off);
  counting task(ltask_kind::repeat, 5);
  e->submit(task);
  for (int i = 0; i < 20; ++i) e->poll();
  EXPECT_EQ(task.runs, 5);
}

TEST(ltask, runs_from_a_leaf_of_an_imagined_machine) {
  running e(polling::off, waiting_policy::adaptive, "package:2 l3:2 core:4 pu:1");
  counting task(ltask_kind::one_shot);
  e->submit_here(task);
  EXPECT_TRUE(eventually([&] {
    e->poll();
    return task.runs == 1;
  }));
}

/// As a rail does with what follows from a message.
struct submitting : ltask {
  submitting(engine& e, ltask& what)
      : ltask("submitting", &run, ltask_kind::repeat), where(e), follows(what) {}
  static ltask_result run(ltask& self) noexcept {
    auto& me = static_cast<submitting&>(self);
    if (!me.message_there) return ltask_result::idle;
    me.where.submit(me.follows);
    return ltask_result::done;
  }
  engine& where;
  ltask& follows;
  bool message_there = false;
};

TEST(ltask, runs_in_the_round_in_which_one_that_has_run_before_submits_it) {
  running e(polling::off);
  counting follows(ltask_kind::one_shot);
  submitting rail(*e, follows);
  e->submit(rail);
  EXPECT_FALSE(e->poll());
  rail.message_there = true;
  EXPECT_TRUE(e->poll());
  EXPECT_EQ(follows.runs, 1);
}

TEST(ltask, may_be_submitted_again_when_it_is_done) {
  running e(polling::off);
  counting task(ltask_kind::one_shot);
  for (int i = 1; i <= 3; ++i) {
    e->submit(task);
    e->poll();
    EXPECT_EQ(task.runs, i);
  }
}

struct self_submitting : ltask {
  self_submitting(engine& e, int times)
      : ltask("self-submitting", &run, ltask_kind::one_shot), where(e), left(times) {}
  static ltask_result run(ltask& self) noexcept {
    auto& me = static_cast<self_submitting&>(self);
    ++me.runs;
    if (--me.left > 0) me.where.submit(me);
    return ltask_result::done;
  }
  engine& where;
  int left;
  int runs = 0;
};

TEST(ltask, may_submit_itself_from_its_body) {
  running e(polling::off);
  self_submitting task(*e, 4);
  e->submit(task);
  for (int i = 0; i < 10; ++i) e->poll();
  EXPECT_EQ(task.runs, 4);
}

struct self_destroying : ltask {
  self_destroying(int& count, ltask_kind kind)
      : ltask("self-destroying", &run, kind), gone(count) {}
  static ltask_result run(ltask& self) noexcept {
    auto* me = static_cast<self_destroying*>(&self);
    ++me->gone;
    delete me;
    return ltask_result::done;
  }
  int& gone;
};

TEST(ltask, may_be_freed_by_its_body) {
  running e(polling::off);
  int gone = 0;
  e->submit(*new self_destroying(gone, ltask_kind::one_shot));
  e->submit(*new self_destroying(gone, ltask_kind::repeat));
  for (int i = 0; i < 3; ++i) e->poll();
  EXPECT_EQ(gone, 2);
}

TEST(ltask, keeps_the_order_of_its_submitter) {
  struct ordered : ltask {
    ordered(std::vector<int>& l, int n)
        : ltask("ordered", &run, ltask_kind::one_shot), log(l), number(n) {}
    static ltask_result run(ltask& self) noexcept {
      auto& me = static_cast<ordered&>(self);
      me.log.push_back(me.number);
      return ltask_result::done;
    }
    std::vector<int>& log;
    int number;
  };
  running e(polling::off);
  std::vector<int> log, expected;
  std::vector<std::unique_ptr<ordered>> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(std::make_unique<ordered>(log, i));
    expected.push_back(i);
    e->submit(*tasks.back());
  }
  e->poll();
  EXPECT_EQ(log, expected);
}

TEST(ltask, is_not_run_after_it_was_cancelled) {
  running e(polling::off);
  counting fresh(ltask_kind::repeat), old(ltask_kind::repeat), once(ltask_kind::one_shot);
  e->submit(old);
  e->poll();
  e->submit(fresh);
  e->submit(once);
  e->cancel(fresh);
  e->cancel(old);
  e->cancel(once);
  e->poll();
  EXPECT_EQ(old.runs, 1);
  EXPECT_EQ(fresh.runs, 0);
  EXPECT_EQ(once.runs, 0);
  e->submit(fresh);
  e->poll();
  EXPECT_EQ(fresh.runs, 1);
  e->cancel(fresh);
}

TEST(ltask, may_be_cancelled_when_it_never_was_submitted_or_is_done) {
  running e(polling::off);
  counting task(ltask_kind::one_shot);
  e->cancel(task);
  e->submit(task);
  e->poll();
  e->cancel(task);
  EXPECT_EQ(task.runs, 1);
}

TEST(ltask, has_ended_its_run_when_cancel_returns) {
  struct slow : ltask {
    slow() : ltask("slow", &run) {}
    static ltask_result run(ltask& self) noexcept {
      auto& me = static_cast<slow&>(self);
      me.inside = true;
      pass_time(20);
      me.inside = false;
      return ltask_result::idle;
    }
    std::atomic<bool> inside{false};
  };
  running e(polling::off);
  slow task;
  e->submit(task);
  std::jthread poller([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) e->poll();
  });
  ASSERT_TRUE(eventually([&] { return task.inside.load(); }));
  e->cancel(task);
  EXPECT_FALSE(task.inside);
}

using ltask_death = ::testing::Test;

TEST(ltask_death, submitting_twice_aborts_with_its_name) {
  running e(polling::off);
  counting task(ltask_kind::repeat);
  e->submit(task);
  EXPECT_DEATH(e->submit(task), "ltask 'counting' is submitted, but it is submitted already");
  e->cancel(task);
}

struct waiting_inside : ltask {
  explicit waiting_inside(engine& e) : ltask("careless", &run, ltask_kind::one_shot), where(e) {}
  static ltask_result run(ltask& self) noexcept {
    completion never;
    static_cast<void>(static_cast<waiting_inside&>(self).where.wait_until(never, 0));
    return ltask_result::done;
  }
  engine& where;
};

// Rule 5, no recursion.
TEST(ltask_death, waiting_inside_a_body_aborts_with_both_names) {
  running e(polling::off);
  waiting_inside task(*e);
  e->submit(task);
  EXPECT_DEATH(e->poll(), "ltask 'careless' calls wait from its body");
  e->cancel(task);
}

struct polling_inside : ltask {
  explicit polling_inside(engine& e) : ltask("careless", &run, ltask_kind::one_shot), where(e) {}
  static ltask_result run(ltask& self) noexcept {
    static_cast<polling_inside&>(self).where.poll();
    return ltask_result::done;
  }
  engine& where;
};

TEST(ltask_death, polling_inside_a_body_aborts_with_both_names) {
  running e(polling::off);
  polling_inside task(*e);
  e->submit(task);
  EXPECT_DEATH(e->poll(), "ltask 'careless' calls poll from its body");
  e->cancel(task);
}

}  // namespace
}  // namespace headway::progress::testing::ltask_tests
