#include "report/recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

namespace headway::report {
namespace {

constexpr function a_send{"MPI_Send", 1, true};
constexpr function a_barrier{"MPI_Barrier", 2, false};
const char places[4096] = {};  // their addresses stand for call sites

/// A call that takes no time; returns whether it was timed.
bool call(const function& what, const void* from) {
  auto& thread = own_record();
  const bool timed = thread.begin(what, from);
  if (timed) thread.end();
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
    EXPECT_GE(timed, 204);
    EXPECT_LE(timed, 260);  // some calls may have taken microseconds
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(call(a_barrier, &places[0]));
  });
  const auto all = recorded_part();
  ASSERT_TRUE(row_of(all, "MPI_Send", 10'000));
  const auto* barrier = row_of(all, "MPI_Barrier", 100);
  ASSERT_TRUE(barrier);
  EXPECT_EQ(barrier->sums.timed, 100u);
}

TEST(recorder, times_the_first_calls_of_a_site_and_later_ones_ever_more_seldom) {
  begin_recording();
  in_thread([] {
    const char* place = &places[3000];
    for (int i = 0; i < 16; ++i) EXPECT_TRUE(call(a_send, place));
    int before = 16, last = 0;
    for (int calls = 1000; calls <= 100'000; calls *= 10) {
      int timed = before;
      for (int i = last + 16 * (last == 0); i < calls; ++i) timed += call(a_send, place);
      EXPECT_NEAR(timed, std::cbrt(768. * calls), 0.1 * std::cbrt(768. * calls));
      before = timed;
      last = calls;
    }
    const auto call_often = [&](int calls) {
      int timed = 0;
      for (int i = 0; i < calls; ++i) timed += call(a_send, place);
      return timed;
    };
    constexpr int longest_period = 1021;
    call_often(900'000);
    EXPECT_NEAR(call_often(100 * longest_period), 100, 10);
    EXPECT_TRUE(
        row_of(recorded_part_of_this_thread(), "MPI_Send", 1'000'000 + 100 * longest_period));
  });
}

TEST(recorder, closes_the_record_to_other_calls_in_a_timed_one_and_counts_it_when_it_has_ended) {
  begin_recording();
  in_thread([] {
    auto& thread = own_record();
    ASSERT_TRUE(thread.begin(a_barrier, &places[3001]));
    EXPECT_EQ(detail::open_record, nullptr);
    EXPECT_FALSE(row_of(recorded_part_of_this_thread(), "MPI_Barrier", 1));
    thread.end();
    EXPECT_EQ(detail::open_record, &thread);
    EXPECT_TRUE(row_of(recorded_part_of_this_thread(), "MPI_Barrier", 1));
  });
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
      const bool timed = thread.begin(a_send, &places[0] + 1000);
      // One wait of 3 us, in two parts.
      if (i % 10 == 0) thread.note_wait({.began_ns = 5000, .ended_ns = 7000});
      if (i % 10 == 0) thread.note_wait({.began_ns = 9000, .ended_ns = 10'000});
      EXPECT_EQ(thread.waiting_since_ns(), i % 10 == 0 ? 5000u : 0u);
      if (timed) thread.end();
    }
  });
  const auto all = recorded_part();
  const auto* row = row_of(all, "MPI_Send", 7000);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->sums.waited, 700u);
  // Of those that were timed as a whole, the time is the clock's, which the test does not set.
  EXPECT_GE(row->sums.waited_ns, 600u * 3000u);
}

TEST(recorder, gives_each_moment_of_a_wait_to_one_operation) {
  begin_recording();
  in_thread([] {
    auto& thread = own_record();
    ASSERT_TRUE(thread.begin(a_barrier, &places[0] + 4000));
    EXPECT_EQ(thread.take_wait(0, 9000).length_ns(), 0u);  // it has not waited
    thread.note_wait({.began_ns = 1000, .ended_ns = 5000});
    EXPECT_EQ(thread.take_wait(2000, 3000).length_ns(), 1000u);  // started after its beginning
    EXPECT_EQ(thread.take_wait(0, 2500).length_ns(), 0u);
    EXPECT_EQ(thread.take_wait(0, 4000).began_ns, 3000u);
    EXPECT_EQ(thread.take_wait(0, 9000).ended_ns, 5000u);  // complete after its end
    EXPECT_EQ(thread.take_wait(0, 9000).length_ns(), 0u);
    thread.end();
    ASSERT_TRUE(thread.begin(a_barrier, &places[0] + 4000));
    EXPECT_EQ(thread.take_wait(0, 9000).length_ns(), 0u);
    thread.end();
  });
}

TEST(recorder, files_operations_that_another_thread_has_started_with_their_call_site) {
  begin_recording();
  const call_record* started = nullptr;
  in_thread([&] {
    ASSERT_TRUE(own_record().begin(a_barrier, &places[0] + 4001));
    started = own_record().current();
    own_record().end();
  });
  in_thread([&] {
    auto& thread = own_record();
    auto& own = thread.record_of(*started);
    own.started.timed = 77;
    thread.note_send_wait({.wait_ended_ns = thread_record::notable_ns, .started_by = own.index});
  });
  const auto all = recorded_part();
  const auto row = std::ranges::find(all.calls, 77u, [](const auto& r) { return r.started.timed; });
  ASSERT_NE(row, all.calls.end());
  EXPECT_EQ(row->sums.calls, 1u);
  EXPECT_EQ(all.send_waits.back().started_by, row - all.calls.begin());
}

TEST(recorder, files_a_received_message_with_the_call_that_received_it) {
  begin_recording();
  in_thread([] {
    auto& thread = own_record();
    ASSERT_TRUE(thread.begin(a_send, &places[0] + 2000));
    thread.note_received(3, 100);
    thread.end();
    ASSERT_TRUE(thread.begin(a_barrier, &places[0] + 2001));
    thread.note_received(4, 20);
    thread.note_sent(4, 7);
    thread.end();
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

TEST(recorder, files_messages_alike_together_and_others_each) {
  begin_recording();
  in_thread([] {
    auto& thread = own_record();
    const auto send_to = [&](std::uint32_t to, std::uint64_t bytes, const char* place) {
      const bool timed = thread.begin(a_send, place);
      thread.note_sent(to, bytes);
      if (timed) thread.end();
    };
    for (int i = 0; i < 5; ++i) send_to(11, 8, &places[0] + 2100);
    for (int i = 0; i < 4; ++i) send_to(11, 9, &places[0] + 2100);  // another length
    for (int i = 0; i < 3; ++i) send_to(12, 9, &places[0] + 2100);  // another rank
    for (int i = 0; i < 2; ++i) send_to(12, 9, &places[0] + 2101);  // from another place
    const bool timed = thread.begin(a_send, &places[0] + 2102);
    thread.expect(11);
    thread.expect_nothing();  // it has failed
    if (timed) thread.end();
  });
  const auto all = recorded_part();
  const auto of = [&](std::uint32_t rank) {
    return *std::ranges::find(all.peers, rank, &peer_row::rank);
  };
  EXPECT_EQ(of(11).sent, 9u);
  EXPECT_EQ(of(11).bytes_sent, 5u * 8 + 4u * 9);
  EXPECT_EQ(of(11).received, 0u);
  EXPECT_EQ(of(12).sent, 5u);
  EXPECT_EQ(of(12).bytes_sent, 5u * 9);
  const auto has = [&](std::uint64_t calls, std::uint64_t bytes) {
    return std::ranges::any_of(all.calls, [&](const auto& row) {
      return row.sums.calls == calls && row.sums.messages == calls && row.sums.bytes == bytes;
    });
  };
  EXPECT_TRUE(has(12, 5 * 8 + 7 * 9));
  EXPECT_TRUE(has(2, 2 * 9));
}

TEST(recorder, keeps_only_so_many_waits_and_counts_the_others) {
  begin_recording();
  const auto before = recorded_part();
  in_thread([] {
    auto& thread = own_record();
    ASSERT_TRUE(thread.begin(a_send, &places[0]));
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
