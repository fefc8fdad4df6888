// What a memory made of packets promises beyond the contracts, which tests/drivers states.
#include "rails/software_memory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/silent_driver.hpp"

namespace headway::rails {
namespace {

/// Takes every packet, and counts the peers that it only receives from.
class packets_only final : public testing::silent_driver {
 public:
  limits query() const noexcept override {
    return {.name = "packets",
            .header_bytes_max = 64,
            .eager_bytes_max = 4096,
            .inline_bytes_max = 256};
  }
  base::result<> admit(peer_id, std::span<const std::byte>) override {
    ++admitted;
    return {};
  }
  int admitted = 0;
};

TEST(software_memory, peers_may_be_connected_while_other_threads_use_the_memory) {
  constexpr std::uint32_t peers = 3000;
  software_memory all(std::make_unique<packets_only>());
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
  for (std::uint32_t i = 0; i < peers; ++i) {
    while (seen.load(std::memory_order_relaxed) + 64 < i) std::this_thread::yield();
    EXPECT_TRUE(all.connect(peer_id{i}, {}));
    connected.store(i + 1, std::memory_order_release);
  }
  user.join();
  EXPECT_FALSE(all.memory()->limits_to(peer_id{peers}).put);
}

TEST(software_memory, a_peer_that_is_admitted_is_not_connected) {
  auto made = std::make_unique<packets_only>();
  const auto* inner = made.get();
  software_memory all(std::move(made));
  EXPECT_TRUE(all.admit(peer_id{1}, {}));
  EXPECT_EQ(inner->admitted, 1);
  EXPECT_FALSE(all.memory()->limits_to(peer_id{1}).put);
}

}  // namespace
}  // namespace headway::rails
