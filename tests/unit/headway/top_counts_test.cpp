#include "tools/headway/top_counts.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace headway::tool {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

process_counts counts(pid_t process, std::uint64_t written_s, std::uint64_t bytes) {
  return {.page = {process, 0},
          .job = 7,
          .rank = static_cast<std::uint64_t>(process),
          .size = 4,
          .program = "heat",
          .began_ns = second,
          .written_ns = second + written_s * second,
          .bytes_in = bytes,
          .bytes_out = bytes / 2,
          .packets = bytes / 100,
          .bytes_overlap = bytes / 4,
          .waited_ns = written_s * second / 2,
          .library_ns = written_s * second / 5};
}

TEST(counts, are_the_sums_of_a_page) {
  watch::page_image image;
  image.rank = 3;
  image.size = 8;
  image.add("job", "a.1").add("id", 99);
  for (const auto* rail : {"shm", "tcp:eth0"}) {
    auto& row = image.add("rail", rail);
    row.add("bytes_in", 10);
    row.add("bytes_out", 1);
    row.add("packets_in", 5);
    row.add("packets_out", 6);
    row.add("bytes_overlap", 4);
  }
  image.add("overlap", "messages").add("waited_ns", 70);
  image.add("thread", "main").add("waited_ns", 71);  // it is part of the overlap's
  image.add("point", "explicit").add("busy_ns", 1000);
  image.add("point", "event").add("busy_ns", 30);
  image.add("point", "timer").add("busy_ns", 3);
  const auto found = counts_of(image, {5, 0});
  EXPECT_EQ(found.job, 99u);
  EXPECT_EQ(found.rank, 3u);
  EXPECT_EQ(found.bytes_in, 20u);
  EXPECT_EQ(found.bytes_out, 2u);
  EXPECT_EQ(found.packets, 22u);
  EXPECT_EQ(found.bytes_overlap, 8u);
  EXPECT_EQ(found.waited_ns, 70u);
  EXPECT_EQ(found.library_ns, 33u);
}

TEST(counts, of_processes_without_a_job_make_a_job_each) {
  watch::page_image image;
  image.add("thread", "main").add("waited_ns", 71);
  EXPECT_NE(counts_of(image, {5, 0}).job, counts_of(image, {6, 0}).job);
  EXPECT_EQ(counts_of(image, {5, 0}).waited_ns, 71u);
}

TEST(rates, are_those_between_two_looks_by_the_clock_of_the_page) {
  rate_meter meter;
  EXPECT_EQ(meter.look({counts(1, 10, 1000)}, 0).front().now.processes, 0u);
  const auto now = meter.look({counts(1, 14, 9000)}, 1).front().now;
  EXPECT_EQ(now.processes, 1u);
  EXPECT_DOUBLE_EQ(now.bytes_in, 2000);
  EXPECT_DOUBLE_EQ(now.bytes_out, 1000);
  EXPECT_DOUBLE_EQ(now.packets, 20);
  EXPECT_DOUBLE_EQ(now.bytes_overlap, 500);
  EXPECT_DOUBLE_EQ(now.waited_s, 0.5);
  EXPECT_DOUBLE_EQ(now.library_s, 0.2);
}

TEST(rates, stay_while_a_page_is_not_written_and_end_when_that_lasts) {
  rate_meter meter;
  static_cast<void>(meter.look({counts(1, 10, 1000)}, 0));
  static_cast<void>(meter.look({counts(1, 11, 2000)}, second));
  EXPECT_DOUBLE_EQ(meter.look({counts(1, 11, 2000)}, 2 * second).front().now.bytes_in, 1000);
  const auto late = meter.look({counts(1, 11, 2000)}, second + rate_meter::silence_max_ns + 1);
  EXPECT_EQ(late.front().now.processes, 0u);
}

TEST(rates, are_not_those_of_an_earlier_process_of_the_same_number) {
  rate_meter meter;
  static_cast<void>(meter.look({counts(1, 10, 1000)}, 0));
  auto other = counts(1, 20, 9'000'000);
  other.began_ns = 15 * second;
  EXPECT_EQ(meter.look({other}, 1).front().now.processes, 0u);
  static_cast<void>(meter.look({}, 2));
  EXPECT_EQ(meter.look({other}, 3).front().now.processes, 0u);
}

TEST(rates, of_counters_that_run_backwards_are_0) {
  rate_meter meter;
  static_cast<void>(meter.look({counts(1, 10, 1000)}, 0));
  const auto now = meter.look({counts(1, 11, 0)}, 1).front().now;
  EXPECT_EQ(now.bytes_in, 0);
  EXPECT_EQ(now.packets, 0);
}

TEST(jobs, are_the_sums_of_their_processes_the_oldest_first) {
  std::vector<process_line> processes;
  for (const pid_t process : {1, 2})
    processes.push_back({.counts = counts(process, 10, 1000),
                         .now = {.processes = 1, .bytes_in = 5, .waited_s = 0.25}});
  auto old = counts(9, 10, 10);
  old.job = 500;
  old.began_ns = 1;
  old.program = "old";
  processes.push_back({.counts = old, .now = {}});
  const auto jobs = jobs_of(processes);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].program, "old");
  EXPECT_EQ(jobs[0].number, 1u);
  EXPECT_EQ(jobs[0].now.processes, 0u);
  EXPECT_EQ(jobs[1].processes, 2u);
  EXPECT_EQ(jobs[1].size, 4u);
  EXPECT_EQ(jobs[1].bytes, 3000u);
  EXPECT_DOUBLE_EQ(jobs[1].now.bytes_in, 10);
  EXPECT_DOUBLE_EQ(jobs[1].now.waited_s, 0.5);
}

}  // namespace
}  // namespace headway::tool
