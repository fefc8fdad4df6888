#include "report/recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/clock.hpp"

namespace headway::report {
namespace {

constexpr function a_send{"MPI_Send", 1, true};
constexpr function a_barrier{"MPI_Barrier", 2, false};
const char places[4096] = {};  // their addresses stand for call sites

/// A call that takes no time; returns whether it was timed.
bool call(const function& what, const void* from) {
  auto& thread = own_record();
  auto& record = thread.begin(what, from);
  const bool timed = !what.light || --record.until_timed == 0;
  if (timed) thread.end(record, base::machine_now_ns());
  return timed;
}

const call_row* row_of(const part& all, const char* name, std::uint64_t calls) {
  const auto found = std::ranges::find_if(
      all.calls, [&](const auto& row) { return row.function == name && row.sums.calls == calls; });
  return found == all.calls.end() ? nullptr : &*found;
}

/// Runs `work` in a thread of its own, whose record is fresh.
template <class Work>
void in_thread(Work work) {
  std::thread(work).join();
}

TEST(recorder, counts_every_call_and_times_some_of_the_light_ones) {
  begin_recording();
  in_thread([] {
    int timed = 0;
    for (int i = 0; i < 10'000; ++i) timed += call(a_send, &places[0]);
    EXPECT_GE(timed, 32 + (10'000 - 32) / 61);
    EXPECT_LE(timed, 32 + (10'000 - 32) / 61 + 5);  // some calls may have taken microseconds
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(call(a_barrier, &places[0]));
  });
  const auto all = recorded_part();
  ASSERT_TRUE(row_of(all, "MPI_Send", 10'000));
  const auto* barrier = row_of(all, "MPI_Barrier", 100);
  ASSERT_TRUE(barrier);
  EXPECT_EQ(barrier->sums.timed, 100u);
}

TEST(recorder, keeps_call_sites_apart) {
  begin_recording();
  in_thread([] {
    for (int i = 0; i < 300; ++i) static_cast<void>(call(a_send, &places[i % 3 == 0 ? 1 : 2]));
  });
  const auto all = recorded_part();
  EXPECT_TRUE(row_of(all, "MPI_Send", 100));
  EXPECT_TRUE(row_of(all, "MPI_Send", 200));
}

TEST(recorder, times_every_wait_even_of_calls_that_it_does_not_time) {
  begin_recording();
  in_thread([] {
    auto& thread = own_record();
    for (int i = 0; i < 7000; ++i) {
      auto& record = thread.begin(a_send, &places[0] + 1000);
      const bool timed = --record.until_timed == 0;
      const auto began_ns = timed ? base::machine_now_ns() : 0;
      if (i % 10 == 0) thread.note_wait({.began_ns = 5000, .ended_ns = 8000});
      if (timed || thread.has_waited()) thread.end(record, began_ns);
    }
  });
  const auto all = recorded_part();
  const auto* row = row_of(all, "MPI_Send", 7000);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->sums.waited, 700u);
  // Of those that were timed as a whole, the time is the clock's, which the test does not set.
  EXPECT_GE(row->sums.waited_ns, 600u * 3000u);
}

TEST(recorder, files_a_received_message_with_the_call_that_received_it) {
  begin_recording();
  in_thread([] {
    auto& thread = own_record();
    static_cast<void>(thread.begin(a_send, &places[0] + 2000));
    thread.note_received(3, 100);
    static_cast<void>(thread.begin(a_barrier, &places[0] + 2001));
    thread.note_received(4, 20);
    thread.note_sent(4, 7);
  });
  const auto all = recorded_part();
  const auto of = [&](std::uint32_t rank) {
    return *std::ranges::find(all.peers, rank, &peer_row::rank);
  };
  EXPECT_EQ(of(3).bytes_received, 100u);
  EXPECT_EQ(of(4).bytes_received, 20u);
  EXPECT_EQ(of(4).bytes_sent, 7u);
  const auto has = [&](const char* name, std::uint64_t messages, std::uint64_t bytes) {
    return std::ranges::any_of(all.calls, [&](const auto& row) {
      return row.function == name && row.sums.messages == messages && row.sums.bytes == bytes;
    });
  };
  EXPECT_TRUE(has("MPI_Send", 1, 100));
  EXPECT_TRUE(has("MPI_Barrier", 2, 27));
}

TEST(recorder, keeps_only_so_many_waits_and_counts_the_others) {
  begin_recording();
  const auto before = recorded_part();
  in_thread([] {
    auto& thread = own_record();
    static_cast<void>(thread.begin(a_send, &places[0]));
    for (std::size_t i = 0; i < thread_record::waits_max + 5; ++i)
      thread.note_send_wait({.wait_began_ns = 0, .wait_ended_ns = thread_record::notable_ns});
    thread.note_send_wait({.wait_began_ns = 0, .wait_ended_ns = thread_record::notable_ns - 1});
  });
  const auto all = recorded_part();
  EXPECT_EQ(all.send_waits.size(), before.send_waits.size() + thread_record::waits_max);
  EXPECT_EQ(all.waits_dropped, before.waits_dropped + 5);
}

TEST(recorder, gives_the_same_log_to_the_same_members_in_the_same_context) {
  auto& one = log_of(7, {0, 2});
  EXPECT_EQ(&one, &log_of(7, {0, 2}));
  EXPECT_NE(&one, &log_of(7, {0, 3}));
  EXPECT_NE(&one, &log_of(8, {0, 2}));
}

}  // namespace
}  // namespace headway::report
