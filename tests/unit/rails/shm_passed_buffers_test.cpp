// Payloads in the buffers that two processes pass to each other.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "rails/shm/layout.hpp"
#include "rails/shm/shm_driver.hpp"
#include "shm_folder.hpp"
#include "shm_victim.hpp"

namespace headway::rails::shm {
namespace {

/// Two processes; this one has both ends, and maps each segment once.
struct shm_passed_buffers : ::testing::Test {
  shm_passed_buffers() {
    const auto to_zero = drivers[0].open(), to_one = drivers[1].open();
    EXPECT_TRUE(to_zero && to_one && drivers[0].connect(peer_id{1}, *to_one) &&
                drivers[1].connect(peer_id{0}, *to_zero));
  }

  [[nodiscard]] post send(unsigned from, std::size_t bytes, bool in_parts = false) {
    payload.resize(bytes);
    std::iota(reinterpret_cast<unsigned char*>(payload.data()),
              reinterpret_cast<unsigned char*>(payload.data()) + bytes, sent++);
    return drivers[from].send(peer_id{1 - from}, {.payload = payload, .in_parts = in_parts});
  }
  /// Takes a packet, with all its parts, that has arrived at `to`, and says where it lay.
  const std::byte* receive(unsigned to) {
    received.clear();
    parts = 0;
    const std::byte* place = nullptr;
    std::array<event, 1> one;
    for (bool whole = false; !whole; ++parts) {
      std::size_t count = 0;
      for (int looks = 0; looks < 100 && count == 0; ++looks) count = drivers[to].reap(one);
      if (count == 0) return nullptr;
      if (!place) place = one[0].bytes.data();
      received.insert(received.end(), one[0].bytes.begin(), one[0].bytes.end());
      whole = one[0].count == 0;
      drivers[to].release(one[0]);
    }
    return place;
  }
  const std::byte* pass(unsigned from, std::size_t bytes, bool in_parts = false) {
    EXPECT_EQ(send(from, bytes, in_parts), post::done);
    const auto* const place = receive(1 - from);
    EXPECT_EQ(received, payload);
    return place;
  }
  [[nodiscard]] bool takes_whole(unsigned from) const {
    return drivers[from].takes_whole(peer_id{1 - from}, longest);
  }

  const folder where;
  std::array<shm_driver, 2> drivers{shm_driver(config_in(where, 0)),
                                    shm_driver(config_in(where, 1))};
  const std::size_t longest = shm_driver::shape_for(2).whole_bytes();
  std::vector<std::byte> payload, received;
  std::size_t parts = 0;
  unsigned char sent = 0;
};

TEST_F(shm_passed_buffers, an_answer_lies_where_the_payload_lay_that_it_answers) {
  const auto* const first = pass(0, 4096);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(pass(1, 4096), first);
    EXPECT_EQ(pass(0, 4096), first);
  }
}

TEST_F(shm_passed_buffers, payloads_that_are_not_answered_go_through_the_ring) {
  const auto* last = pass(0, 4096);
  for (int i = 0; i < 10; ++i) {
    const auto* const next = pass(0, 4096);
    EXPECT_NE(next, last);
    last = next;
  }
}

TEST_F(shm_passed_buffers, two_that_send_at_the_same_time_exchange_their_buffers) {
  std::array<const std::byte*, 2> before{};
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(send(0, 4096), post::done);
    ASSERT_EQ(send(1, 4096), post::done);
    const auto* const at_zero = receive(0);
    const auto* const at_one = receive(1);
    EXPECT_NE(at_zero, at_one);
    if (i > 0) {
      EXPECT_EQ(at_zero, before[1]);
      EXPECT_EQ(at_one, before[0]);
    }
    before = {at_zero, at_one};
  }
}

TEST_F(shm_passed_buffers, short_payloads_stay_in_the_ring) {
  const auto* const first = pass(0, 100);
  EXPECT_NE(pass(1, 100), first);
  EXPECT_TRUE(takes_whole(0));
  EXPECT_TRUE(takes_whole(1));
}

TEST_F(shm_passed_buffers, take_more_at_once_than_the_ring) {
  ASSERT_GT(longest, drivers[0].query().eager_bytes_max);
  EXPECT_EQ(drivers[0].query().whole_bytes_max, longest);
  ASSERT_TRUE(takes_whole(0));
  EXPECT_FALSE(drivers[0].takes_whole(peer_id{1}, longest + 1));
  const auto* const first = pass(0, longest, true);
  EXPECT_GT(parts, 1u);
  EXPECT_FALSE(takes_whole(0)) << "its buffer is the peer's";
  EXPECT_TRUE(takes_whole(1));
  EXPECT_EQ(pass(1, longest, true), first);
  EXPECT_TRUE(takes_whole(0));
}

TEST(shm_passed_buffers_of_a_user, take_no_more_than_the_ring_if_the_way_of_large_payloads_is_set) {
  const folder where;
  auto chosen = config_in(where, 0);
  chosen.how.large = large_way::get;
  shm_driver one(chosen), two(config_in(where, 1));
  const auto to_one = one.open(), to_two = two.open();
  ASSERT_TRUE(to_one && to_two && one.connect(peer_id{1}, *to_two));
  EXPECT_EQ(one.query().whole_bytes_max, 0u);
  EXPECT_FALSE(one.takes_whole(peer_id{1}, one.query().eager_bytes_max + 1));
}

TEST_F(shm_passed_buffers, are_the_readers_when_the_last_part_is_released) {
  ASSERT_EQ(send(0, 40'000, true), post::done);
  ASSERT_EQ(send(1, 4096), post::done);  // the other buffer
  std::array<event, 8> events;
  std::size_t count = 0;
  while (count == 0 || events[count - 1].count != 0)
    count += drivers[1].reap(std::span(events).subspan(count));
  ASSERT_GT(count, 1u);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_FALSE(takes_whole(1));
    drivers[1].release(events[i]);
  }
  EXPECT_TRUE(takes_whole(1));
}

TEST_F(shm_passed_buffers, hold_payloads_of_each_length_between_others) {
  for (std::size_t bytes = 500; bytes < 70'000; bytes += 777) {
    static_cast<void>(pass(0, bytes, true));
    static_cast<void>(pass(1, bytes / 2, true));
    static_cast<void>(pass(1, 8));
  }
}

// ---- what a peer may not write ------------------------------------------------------------------

void ends_the_connection(std::span<const record_head> records, victim_of_peer& victim) {
  ASSERT_TRUE(victim.way);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::uint64_t word = record_word(records[i]);
    std::memcpy(victim.way->slot().ring + i * cell_bytes, &word, sizeof word);
  }
  victim.begin();
  std::array<event, 4> events;
  std::size_t packets = 0;
  for (int i = 0; i < 100; ++i)
    for (const auto& e : std::span(events).first(victim.driver.reap(events))) {
      if (e.kind == event_kind::lost) {
        EXPECT_EQ(packets, records.size() - 1) << "the last one alone is wrong";
        return;
      }
      ++packets;
      victim.driver.release(e);
    }
  ADD_FAILURE() << "it was accepted";
}

void ends_the_connection(std::span<const record_head> records) {
  victim_of_peer victim;
  ends_the_connection(records, victim);
}

constexpr record_head packet_in(passed_place where) {
  return {.kind = record_kind::packet, .bytes = 64, .place = where};
}

TEST(shm_passed_buffers_of_others, are_not_written_by_the_peer) {
  const std::array in_ours{packet_in(passed_place::writers)};
  ends_the_connection(in_ours);
  const std::array twice{packet_in(passed_place::readers), packet_in(passed_place::readers)};
  ends_the_connection(twice);
}

TEST(shm_passed_buffers_of_others, are_two) {
  victim_of_peer victim;
  const std::vector<std::byte> payload(4096);
  ASSERT_EQ(victim.driver.send(peer_id{1}, {.payload = payload}), post::done);
  const std::array third{packet_in(static_cast<passed_place>(3))};
  ends_the_connection(third, victim);
}

TEST(shm_passed_buffers_of_others, hold_all_parts_of_a_packet_or_none) {
  constexpr passed_place ring = passed_place::none, buffer = passed_place::readers;
  for (const auto& [first, second] : {std::pair(ring, buffer), std::pair(buffer, ring)}) {
    const std::array apart{
        record_head{.kind = record_kind::packet, .bytes = 16, .following = 16, .place = first},
        record_head{.kind = record_kind::more, .bytes = 16, .place = second}};
    ends_the_connection(apart);
  }
}

TEST(shm_passed_buffers_of_others, hold_no_other_records) {
  const std::array put{record_head{
      .kind = record_kind::put, .bytes = sizeof(put_prefix), .place = passed_place::readers}};
  ends_the_connection(put);
}

}  // namespace
}  // namespace headway::rails::shm
