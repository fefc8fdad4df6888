#include "report/part.hpp"

#include <gtest/gtest.h>

#include "tests/unit/report/parts.hpp"

namespace headway::report {
namespace {

part full_part() {
  auto p = part_of(1);
  p.threads = {{"heat", "0-3"}, {"hw-event", "0"}};
  p.calls = {row_of("MPI_Send", 3, 50)};
  p.calls[0].started.operations = 9;
  p.calls[0].counts_waits = false;
  p.peers = {{.rank = 0, .sent = 3, .bytes_sent = 24}};
  p.sizes_sent.add(8);
  p.send_waits = {{.to = 0,
                   .number = 7,
                   .sent_ns = 1,
                   .wait_began_ns = 2,
                   .wait_ended_ns = 3,
                   .started_by = 4}};
  p.late_receives = {{.from = 0, .number = 7, .announced_ns = 1, .posted_ns = 2}};
  collective_log log(4, {0, 1});
  log.note({.number = log.next(), .entered_ns = 5, .left_ns = 6});
  p.collectives.push_back(log);
  return p;
}

TEST(part, arrives_as_it_was_packed) {
  const auto sent = full_part();
  const auto got = part::unpack(sent.pack());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->rank, 1u);
  EXPECT_EQ(got->program, "/bin/heat");
  ASSERT_EQ(got->threads.size(), 2u);
  EXPECT_EQ(got->threads[1].name, "hw-event");
  ASSERT_EQ(got->calls.size(), 1u);
  EXPECT_EQ(got->calls[0].function, "MPI_Send");
  EXPECT_EQ(got->calls[0].sums.timed_ns, 150u);
  EXPECT_EQ(got->calls[0].started.operations, 9u);
  ASSERT_EQ(got->peers.size(), 1u);
  EXPECT_EQ(got->peers[0].bytes_sent, 24u);
  EXPECT_EQ(got->sizes_sent.messages[4], 1u);
  EXPECT_EQ(got->send_waits.at(0).wait_ended_ns, 3u);
  EXPECT_EQ(got->send_waits.at(0).started_by, 4u);
  EXPECT_FALSE(got->calls[0].counts_waits);
  EXPECT_EQ(got->late_receives.at(0).posted_ns, 2u);
  ASSERT_EQ(got->collectives.size(), 1u);
  EXPECT_TRUE(got->collectives[0].same_as(4, {0, 1}));
  EXPECT_EQ(got->collectives[0].entries().at(0).left_ns, 6u);
}

TEST(part, that_is_cut_anywhere_is_refused) {
  const auto bytes = full_part().pack();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(part::unpack(std::span(bytes).first(size))) << size;
  auto longer = bytes;
  longer.push_back({});
  EXPECT_FALSE(part::unpack(longer));
}

TEST(part, with_a_length_that_is_not_there_is_refused) {
  const auto bytes = full_part().pack();
  for (std::size_t at = 8; at + 8 <= bytes.size(); at += 4) {
    auto wrong = bytes;
    for (std::size_t i = 0; i < 8; ++i) wrong[at + i] = std::byte{0xff};
    static_cast<void>(part::unpack(wrong));  // ends, without a huge allocation
  }
  auto other_version = bytes;
  other_version[0] = std::byte{99};
  EXPECT_FALSE(part::unpack(other_version));
}

TEST(call_sums, calls_that_were_not_timed_count_as_the_mean_of_those_that_did_not_wait) {
  const call_sums s{.calls = 110,
                    .timed = 10,
                    .timed_ns = 1000,
                    .timed_longest_ns = 100,
                    .waited = 10,
                    .waited_ns = 7000};
  EXPECT_EQ(s.total_ns(), 7000u + 100u * 100u);
  const call_sums waited_only{.calls = 2, .waited = 2, .waited_ns = 500};
  EXPECT_EQ(waited_only.total_ns(), 500u);
}

TEST(call_sums, the_longest_timed_call_counts_once) {
  const call_sums s{.calls = 100, .timed = 10, .timed_ns = 50'900, .timed_longest_ns = 50'000};
  EXPECT_EQ(s.total_ns(), 50'900u + 90u * 100u);
}

TEST(size_counts, class_n_holds_what_is_below_two_to_the_n) {
  size_counts s;
  for (const std::uint64_t bytes : {0, 1, 7, 8, 15, 16}) s.add(bytes);
  EXPECT_EQ(s.messages[0], 1u);  // nothing
  EXPECT_EQ(s.messages[1], 1u);
  EXPECT_EQ(s.messages[3], 1u);
  EXPECT_EQ(s.messages[4], 2u);
  EXPECT_EQ(s.bytes[4], 23u);
  EXPECT_EQ(s.messages[5], 1u);
  s.add(UINT64_MAX);
  EXPECT_EQ(s.messages[size_counts::classes - 1], 1u);
}

}  // namespace
}  // namespace headway::report
