// What a memory made of packets promises beyond the contracts, which tests/drivers states.
#include "rails/software_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/simulation/bare_ends.hpp"

namespace headway::rails {
namespace {

/// Counts the peers that it only receives from.
class counting_rail final : public simulation::driver {
 public:
  using driver::driver;
  base::result<> admit(peer_id peer, std::span<const std::byte> address) override {
    ++admitted;
    return driver::admit(peer, address);
  }
  int admitted = 0;
};

TEST(software_memory, peers_may_be_connected_while_other_threads_use_the_memory) {
  constexpr std::uint32_t peers = 3000;
  simulation::bare_ends ends(peers, {simulation::bare_ends::immediate},
                             simulation::time_source::machine);
  software_memory all(ends.make_rail());
  std::atomic<std::uint32_t> connected{0}, seen{0};
  std::thread user([&] {
    std::uint32_t last = 0;
    while (last < peers) {
      last = connected.load(std::memory_order_acquire);  // pairs with the release below
      for (std::uint32_t i = 0; i < last; i += 1 + last / 8)
        EXPECT_TRUE(all.memory()->limits_to(peer_id{i}).put) << i;
      (void)all.memory()->limits_to(peer_id{last});  // it may be in the making
      seen.store(last, std::memory_order_relaxed);   // carries nothing
    }
  });
  for (std::uint32_t i = 0; i < peers; ++i) {  // the first is the process itself
    while (seen.load(std::memory_order_relaxed) + 64 < i) std::this_thread::yield();
    EXPECT_TRUE(all.connect(peer_id{i}, {}));
    connected.store(i + 1, std::memory_order_release);
  }
  user.join();
  EXPECT_FALSE(all.memory()->limits_to(peer_id{peers}).put);
}

TEST(software_memory, a_peer_that_is_admitted_is_not_connected) {
  simulation::bare_ends ends;
  auto made = ends.make_rail<counting_rail>();
  const auto* inner = made.get();
  software_memory all(std::move(made));
  EXPECT_TRUE(all.admit(peer_id{1}, {}));
  EXPECT_EQ(inner->admitted, 1);
  EXPECT_FALSE(all.memory()->limits_to(peer_id{1}).put);
}

}  // namespace
}  // namespace headway::rails
