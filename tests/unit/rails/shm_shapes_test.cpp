// Two processes whose segments have different sizes, as those of two jobs may have.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "rails/shm/shm_driver.hpp"
#include "shm_folder.hpp"

namespace headway::rails::shm::shm_shapes_tests {
namespace {

config with_ring(const folder& where, std::uint32_t rank, std::uint32_t bytes) {
  auto made = config_in(where, rank);
  made.how.ring_bytes = bytes;
  made.how.piece_bytes = bytes / 4;
  return made;
}

std::vector<std::byte> payload_of(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 7 + i / 251);
  return made;
}

class shm_shapes : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto first = drivers[0].open(), second = drivers[1].open();
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(drivers[0].connect(peer_id{1}, *second) && drivers[1].connect(peer_id{0}, *first));
  }
  /// What arrives of one packet.
  std::vector<std::byte> receive(unsigned to) {
    std::vector<std::byte> all;
    std::array<event, 8> events;
    for (int round = 0; round < 1000; ++round) {
      for (const auto& e : std::span(events).first(drivers[to].reap(events))) {
        if (e.kind != event_kind::received && e.kind != event_kind::continued) continue;
        all.insert(all.end(), e.bytes.begin(), e.bytes.end());
        drivers[to].release(e);
        if (e.count == 0) return all;
      }
    }
    return all;
  }

  folder where;
  std::array<shm_driver, 2> drivers{shm_driver(with_ring(where, 0, 16 * 1024)),
                                    shm_driver(with_ring(where, 1, 2048 * 1024))};
};

TEST_F(shm_shapes, both_keep_to_what_the_smaller_segment_holds) {
  const auto small = drivers[0].query(), large = drivers[1].query();
  ASSERT_LT(small.whole_bytes_max, large.eager_bytes_max);
  for (unsigned from : {0u, 1u}) {
    const auto to_peer = drivers[from].packet_limits_to(peer_id{1 - from});
    EXPECT_EQ(to_peer.eager_bytes_max, small.eager_bytes_max);
    EXPECT_EQ(to_peer.inline_bytes_max, small.inline_bytes_max);
    EXPECT_EQ(to_peer.whole_bytes_max, small.whole_bytes_max);
    EXPECT_FALSE(drivers[from].takes_whole(peer_id{1 - from}, small.whole_bytes_max + 1));
  }
}

TEST_F(shm_shapes, packets_of_every_length_arrive_in_both_directions) {
  const std::array<std::byte, 16> header{};
  const auto to_peer = drivers[0].packet_limits_to(peer_id{1});
  for (const bool in_parts : {false, true})
    for (std::size_t bytes = 1; bytes <= to_peer.whole_bytes_max; bytes += bytes / 3 + 1)
      for (unsigned from : {0u, 1u}) {
        if (bytes > to_peer.eager_bytes_max &&
            !(in_parts && drivers[from].takes_whole(peer_id{1 - from}, bytes)))
          continue;
        const auto payload = payload_of(bytes);
        ASSERT_EQ(drivers[from].send(peer_id{1 - from},
                                     {.header = header, .payload = payload, .in_parts = in_parts}),
                  post::done)
            << bytes;
        const auto found = receive(1 - from);
        ASSERT_EQ(found.size(), header.size() + bytes);
        ASSERT_TRUE(std::equal(payload.begin(), payload.end(), found.begin() + header.size()))
            << bytes;
      }
}

}  // namespace
}  // namespace headway::rails::shm::shm_shapes_tests
