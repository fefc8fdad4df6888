#include "report/merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/report/parts.hpp"

namespace headway::report {
namespace {

const pair_total* pair_of(const summary& job, std::uint32_t waiting, std::uint32_t awaited) {
  const auto found = std::ranges::find_if(
      job.waits, [&](const auto& w) { return w.waiting == waiting && w.awaited == awaited; });
  return found == job.waits.end() ? nullptr : &*found;
}

/// A log of calls; each rank enters and leaves at these times in milliseconds.
struct times {
  std::uint64_t entered_ms, left_ms;
};
void add_log(part& to, std::vector<std::uint32_t> members, std::vector<times> calls,
             dependence waits, std::uint32_t root = 0) {
  collective_log log(0, std::move(members));
  for (const auto& call : calls)
    log.note({.number = log.next(),
              .entered_ns = call.entered_ms * ms,
              .left_ns = call.left_ms * ms,
              .root = root,
              .waits = waits});
  to.collectives.push_back(log);
}

TEST(merge, adds_up_functions_over_ranks_and_names_the_extremes) {
  auto a = part_of(0, 3), b = part_of(1, 3), c = part_of(2, 3);
  a.calls = {row_of("MPI_Send", 10, 1 * ms)};
  b.calls = {row_of("MPI_Send", 10, 5 * ms), row_of("MPI_Recv", 1, 1 * ms)};
  const auto job = merge({c, a, b}, 3);
  ASSERT_EQ(job.functions.size(), 2u);
  const auto& send = job.functions[0];
  EXPECT_EQ(send.function, "MPI_Send");
  EXPECT_EQ(send.calls, 20u);
  EXPECT_NEAR(send.seconds.sum, 0.060, 1e-9);
  EXPECT_NEAR(send.seconds.least, 0, 1e-9);  // rank 2 called nothing
  EXPECT_EQ(send.seconds.least_rank, 2u);
  EXPECT_NEAR(send.seconds.median, 0.010, 1e-9);
  EXPECT_NEAR(send.seconds.greatest, 0.050, 1e-9);
  EXPECT_EQ(send.seconds.greatest_rank, 1u);
  EXPECT_FALSE(send.sampled);
  ASSERT_EQ(job.calls.size(), 2u);
  EXPECT_EQ(job.calls[0].ranks, 2u);
  EXPECT_EQ(job.calls[0].longest_rank, 1u);
  EXPECT_TRUE(job.missing.empty());
}

TEST(merge, estimates_no_longer_time_than_the_rank_ran) {
  auto a = part_of(0);  // for 1 s
  a.calls = {row_of("MPI_Send", 100, 1 * ms), row_of("MPI_Recv", 100, 1 * ms)};
  a.calls[0].sums.calls = 10'000;  // those that were not timed would take 9.9 s
  const auto job = merge({a, part_of(1)}, 2);
  EXPECT_NEAR(job.mpi_seconds.greatest, 1, 1e-9);
  ASSERT_EQ(job.functions.size(), 2u);
  EXPECT_NEAR(job.functions[0].seconds.sum, 0.9, 1e-9);
  EXPECT_NEAR(job.functions[1].seconds.sum, 0.1, 1e-9);  // all of them were timed
  EXPECT_NEAR(job.calls[0].total_s, 0.9, 1e-9);
}

TEST(merge, names_ranks_that_reported_nothing) {
  EXPECT_EQ(merge({part_of(1, 4)}, 4).missing, (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST(merge, takes_late_senders_from_the_receiver) {
  auto a = part_of(0), b = part_of(1);
  b.peers = {{.rank = 0, .late_sender = 2, .late_sender_ns = 30 * ms}};
  const auto job = merge({a, b}, 2);
  ASSERT_EQ(job.waits.size(), 1u);
  EXPECT_EQ(job.waits[0].waiting, 1u);
  EXPECT_EQ(job.waits[0].awaited, 0u);
  EXPECT_EQ(job.waits[0].late_sender, 2u);
  EXPECT_NEAR(job.waits[0].late_sender_s, 0.030, 1e-9);
}

/// Rank 0 starts a send at 100 ms and waits for it from 120 to 200 ms.
std::vector<part> late_receiver(std::uint64_t posted_ms, std::uint32_t other_node = 0) {
  auto a = part_of(0), b = part_of(1, 2, other_node);
  a.send_waits = {{.to = 1,
                   .number = 5,
                   .sent_ns = 100 * ms,
                   .wait_began_ns = 120 * ms,
                   .wait_ended_ns = 200 * ms}};
  b.late_receives = {
      {.from = 0, .number = 5, .announced_ns = 101 * ms, .posted_ns = posted_ms * ms}};
  return {a, b};
}

TEST(merge, counts_a_late_receiver_from_the_wait_until_the_receive) {
  const auto job = merge(late_receiver(180), 2);
  const auto* pair = pair_of(job, 0, 1);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->late_receiver, 1u);
  EXPECT_NEAR(pair->late_receiver_s, 0.060, 1e-9);
}

TEST(merge, takes_what_a_send_waited_for_its_receiver_from_the_call_that_started_it) {
  auto parts = late_receiver(180);
  parts[0].calls = {row_of("MPI_Irecv", 1, ms), row_of("MPI_Isend", 1, ms)};
  parts[0].calls[1].started = {.operations = 1, .timed = 1, .waited_ns = 80 * ms};
  parts[0].send_waits[0].started_by = 1;
  const auto job = merge(parts, 2);
  EXPECT_EQ(job.overlap.for_partner_ns, 60 * ms);
  const auto started = std::ranges::find(job.calls, "MPI_Isend", &call_total::function)->started;
  EXPECT_EQ(started.for_partner_ns, 60 * ms);
  EXPECT_NE(job.advice[0].find("Rank 0 waited 60.00 ms until rank 1 posted"), std::string::npos);
  EXPECT_NE(job.advice[1].find("were waited for 20.00 ms"), std::string::npos) << job.advice[1];
}

TEST(merge, counts_no_more_time_for_the_partner_than_was_waited) {
  auto parts = late_receiver(180);
  parts[0].calls = {row_of("MPI_Isend", 1, ms)};
  parts[0].calls[0].started = {.operations = 1, .timed = 1, .waited_ns = 50 * ms};
  for (const std::uint32_t row : {0u, 7u, send_wait::none}) {  // the others are not there
    parts[0].send_waits[0].started_by = row;
    EXPECT_EQ(merge(parts, 2).overlap.for_partner_ns, row == 0 ? 50 * ms : 0);
  }
}

TEST(merge, counts_a_late_receiver_that_saw_the_announcement_only_when_it_came) {
  auto parts = late_receiver(180);
  parts[1].late_receives[0].announced_ns = 0;
  const auto job = merge(parts, 2);
  const auto* pair = pair_of(job, 0, 1);
  ASSERT_TRUE(pair);
  EXPECT_NEAR(pair->late_receiver_s, 0.060, 1e-9);
  parts[1].node = 1;  // clocks differ, and nothing says when the announcement came
  EXPECT_FALSE(pair_of(merge(parts, 2), 0, 1));
}

TEST(merge, counts_no_late_receiver_that_came_before_the_wait_or_belongs_to_another_message) {
  EXPECT_FALSE(pair_of(merge(late_receiver(110), 2), 0, 1));
  EXPECT_FALSE(pair_of(merge(late_receiver(210), 2), 0, 1));  // of a later message
  auto other_number = late_receiver(180);
  other_number[1].late_receives[0].number = 6;
  EXPECT_FALSE(pair_of(merge(other_number, 2), 0, 1));
}

TEST(merge, compares_no_clocks_of_two_nodes) {
  auto parts = late_receiver(180, 1);
  parts[1].late_receives[0].announced_ns += 5000 * ms;  // its clock is 5 s ahead
  parts[1].late_receives[0].posted_ns += 5000 * ms;
  const auto one = merge(parts, 2);
  const auto* pair = pair_of(one, 0, 1);
  ASSERT_TRUE(pair);
  EXPECT_NEAR(pair->late_receiver_s, 0.059, 1e-9);  // 79 ms after the announcement, 20 not waited
  parts[1].late_receives.push_back(parts[1].late_receives[0]);  // the number came twice
  EXPECT_FALSE(pair_of(merge(parts, 2), 0, 1));
}

TEST(merge, blames_the_last_rank_of_an_operation_of_all) {
  auto a = part_of(0, 3), b = part_of(1, 3), c = part_of(2, 3);
  add_log(a, {0, 1, 2}, {{10, 51}}, dependence::on_all);
  add_log(b, {0, 1, 2}, {{50, 51}}, dependence::on_all);
  add_log(c, {0, 1, 2}, {{30, 51}}, dependence::on_all);
  const auto job = merge({a, b, c}, 3);
  EXPECT_EQ(job.waits.size(), 2u);
  EXPECT_NEAR(pair_of(job, 0, 1)->collective_s, 0.040, 1e-9);
  EXPECT_NEAR(pair_of(job, 2, 1)->collective_s, 0.020, 1e-9);
  EXPECT_EQ(job.collectives.calls, 1u);
  EXPECT_EQ(job.collectives.compared, 1u);
}

TEST(merge, blames_the_root_where_only_it_is_waited_for) {
  auto a = part_of(0, 3), b = part_of(1, 3), c = part_of(2, 3);
  add_log(a, {0, 1, 2}, {{40, 41}}, dependence::on_root, 0);
  add_log(b, {0, 1, 2}, {{10, 42}}, dependence::on_root, 0);
  add_log(c, {0, 1, 2}, {{90, 91}}, dependence::on_root, 0);
  const auto job = merge({a, b, c}, 3);
  ASSERT_EQ(job.waits.size(), 1u);
  EXPECT_NEAR(pair_of(job, 1, 0)->collective_s, 0.030, 1e-9);
}

TEST(merge, lets_only_the_root_wait_where_it_collects) {
  auto a = part_of(0, 3), b = part_of(1, 3), c = part_of(2, 3);
  add_log(a, {0, 1, 2}, {{10, 91}}, dependence::root_alone, 0);
  add_log(b, {0, 1, 2}, {{20, 21}}, dependence::root_alone, 0);
  add_log(c, {0, 1, 2}, {{90, 91}}, dependence::root_alone, 0);
  const auto job = merge({a, b, c}, 3);
  ASSERT_EQ(job.waits.size(), 1u);
  EXPECT_NEAR(pair_of(job, 0, 2)->collective_s, 0.080, 1e-9);
}

TEST(merge, lets_no_rank_wait_after_it_has_left) {
  auto a = part_of(0), b = part_of(1);
  add_log(a, {0, 1}, {{10, 15}}, dependence::on_root, 1);
  add_log(b, {0, 1}, {{40, 41}}, dependence::on_root, 1);
  EXPECT_NEAR(pair_of(merge({a, b}, 2), 0, 1)->collective_s, 0.005, 1e-9);
}

TEST(merge, compares_no_call_that_a_member_did_not_report_and_none_of_two_nodes) {
  auto a = part_of(0, 3), b = part_of(1, 3), far = part_of(2, 3, 1);
  add_log(a, {0, 1, 2}, {{10, 51}}, dependence::on_all);
  add_log(b, {0, 1, 2}, {{50, 51}}, dependence::on_all);
  const auto without = merge({a, b}, 3);
  EXPECT_TRUE(without.waits.empty());
  EXPECT_EQ(without.collectives.compared, 0u);
  add_log(far, {0, 1, 2}, {{30, 51}}, dependence::on_all);
  const auto across = merge({a, b, far}, 3);
  EXPECT_TRUE(across.waits.empty());
  EXPECT_EQ(across.collectives.between_nodes, 1u);
}

TEST(merge, keeps_communicators_with_other_members_apart) {
  auto a = part_of(0, 4), b = part_of(1, 4), c = part_of(2, 4), d = part_of(3, 4);
  add_log(a, {0, 1}, {{10, 21}}, dependence::on_all);
  add_log(b, {0, 1}, {{20, 21}}, dependence::on_all);
  add_log(c, {2, 3}, {{50, 91}}, dependence::on_all);
  add_log(d, {2, 3}, {{90, 91}}, dependence::on_all);
  const auto job = merge({a, b, c, d}, 4);
  EXPECT_EQ(job.waits.size(), 2u);
  EXPECT_NEAR(pair_of(job, 0, 1)->collective_s, 0.010, 1e-9);
  EXPECT_NEAR(pair_of(job, 2, 3)->collective_s, 0.040, 1e-9);
}

TEST(merge, lets_the_calls_that_were_kept_stand_for_all) {
  auto a = part_of(0), b = part_of(1);
  const std::uint64_t calls = 4 * collective_log::entries_max;
  std::vector<times> early(calls, {10, 21}), late(calls, {20, 21});
  add_log(a, {0, 1}, early, dependence::on_all);
  add_log(b, {0, 1}, late, dependence::on_all);
  const auto job = merge({a, b}, 2);
  EXPECT_EQ(job.collectives.calls, calls);
  EXPECT_LE(job.collectives.compared, collective_log::entries_max);
  EXPECT_NEAR(pair_of(job, 0, 1)->collective_s, static_cast<double>(calls) * 0.010, 1e-6);
}

}  // namespace
}  // namespace headway::report
