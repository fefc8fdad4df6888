// Notices about the collective operations of a context: inquiries, misfits, and operations that are
// given up. A late one must not reach the next context with its number.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "messages/exchange.hpp"
#include "messages/operation_log.hpp"
#include "tests/simulation/job.hpp"

namespace headway::messages {
namespace {

constexpr operation_log::word one_call = 1, other_call = 2;
constexpr std::uint32_t number = 7;
constexpr std::uint64_t first_use = 1, next_use = 2;

/// A rank's side of a collective context in which it has begun an operation and waits for a message
/// of it.
struct waiting_rank {
  waiting_rank(simulation::job& of, std::size_t rank, std::uint64_t incarnation)
      : all(of.messages(rank)), where(of.open(rank, {number, incarnation}, true)) {}
  ~waiting_rank() {
    if (!r.test()) all.cancel(r);
    all.close_context(where);
  }
  void begin(operation_log::word call, int source) {
    log().note(call);
    all.receive(*where, r, room, source, label_now());
  }
  [[nodiscard]] operation_log& log() { return exchange::log_of(*where); }
  [[nodiscard]] label label_now() { return {operation_tags.of(1), log().history()}; }

  exchange& all;
  context* where;
  request r;
  std::array<std::byte, 16> room{};
};

struct notices_test : ::testing::TestWithParam<std::uint64_t> {
  bool until(auto enough) { return job.run_until(enough, 10'000'000'000); }
  /// Longer than it takes until a rank that waits asks others.
  void pass_time() {
    static_cast<void>(job.run_until([] { return false; }, 2'000'000'000));
  }
  /// Rank `from` sends a message of a length that is not due, so that the operation ends.
  void send_too_much(waiting_rank& from, int to) {
    static constexpr std::array<std::byte, 99> too_much{};
    request s;
    from.all.send(*from.where, s, too_much, to, from.label_now());
    ASSERT_TRUE(until([&] { return s.test(); }));
  }
  simulation::job job{{.processes = 3, .seed = GetParam()}};
};

TEST_P(notices_test, end_all_that_wait_where_the_logs_of_two_ranks_differ) {
  waiting_rank a(job, 0, first_use), b(job, 1, first_use), c(job, 2, first_use);
  a.begin(other_call, 1);
  b.begin(one_call, 2);
  c.begin(one_call, 0);
  // Ranks ask those that they have messages with.
  ASSERT_TRUE(until([&] { return a.r.test() && b.r.test() && c.r.test(); }));
  for (auto* one : {&a, &b, &c}) {
    EXPECT_EQ(one->r.arrived.how, outcome::failed);
    ASSERT_TRUE(one->log().is_broken());
    const auto& why = one->log().why_broken();
    EXPECT_EQ(why.position, 1U);
    std::array calls{why.sides[0].call, why.sides[1].call};
    std::ranges::sort(calls);
    EXPECT_EQ(calls, (std::array{one_call, other_call}));
  }
}

TEST_P(notices_test, end_nothing_where_ranks_wait_long_in_the_same_operation) {
  waiting_rank a(job, 0, first_use), b(job, 1, first_use), c(job, 2, first_use);
  for (auto* one : {&a, &b, &c}) one->begin(one_call, one == &a ? 1 : 0);
  pass_time();
  for (auto* one : {&a, &b, &c}) {
    EXPECT_FALSE(one->log().is_broken());
    EXPECT_FALSE(one->r.test());
  }
}

/// Ranks 0 and 2 are still in a context that rank 1 has closed. They ask rank 1, they find that
/// their own logs differ and tell it, and they give up an operation of which it has one under the
/// same tag.
TEST_P(notices_test, do_not_reach_the_next_context_with_their_number) {
  waiting_rank a(job, 0, first_use), b(job, 1, next_use), c(job, 2, first_use);
  b.begin(one_call, 0);
  a.begin(other_call, 1);
  c.begin(other_call, 0);
  pass_time();
  EXPECT_FALSE(a.log().is_broken() || c.log().is_broken());  // they only asked
  send_too_much(a, 2);
  ASSERT_TRUE(until([&] { return a.r.test() && c.r.test(); }));
  a.log().note(other_call);
  c.log().note(one_call);
  request waits;
  a.all.receive(*a.where, waits, a.room, 2, {operation_tags.of(2), a.log().history()});
  ASSERT_TRUE(until([&] { return a.log().is_broken() && c.log().is_broken(); }));
  pass_time();
  EXPECT_TRUE(waits.test());
  EXPECT_FALSE(b.log().is_broken());
  EXPECT_FALSE(b.r.test());
}

TEST_P(notices_test, wait_for_their_context_to_be_opened_and_pass_by_the_next_one_with_its_number) {
  for (const auto opened : {first_use, next_use}) {
    waiting_rank a(job, 0, first_use), c(job, 2, first_use);
    a.begin(other_call, 1);
    c.begin(other_call, 0);
    send_too_much(a, 2);
    ASSERT_TRUE(until([&] { return a.r.test() && c.r.test(); }));
    pass_time();
    waiting_rank b(job, 1, opened);
    b.begin(other_call, 0);
    pass_time();
    EXPECT_EQ(b.r.test(), opened == first_use);
  }
}

TEST_P(notices_test, leave_the_data_of_a_closed_context_to_no_receive_of_the_next_one) {
  waiting_rank a(job, 0, first_use);
  a.begin(other_call, 1);
  request s;
  a.all.send(*a.where, s, a.room, 1, a.label_now());
  pass_time();
  waiting_rank b(job, 1, next_use);
  b.begin(other_call, 0);
  pass_time();
  EXPECT_FALSE(b.r.test());
}

INSTANTIATE_TEST_SUITE_P(seeds, notices_test, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace headway::messages
