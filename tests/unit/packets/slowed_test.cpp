// Goal:   a large message corrects itself while it runs: what a rail that has turned slow does not
//         do in time goes to the others.
// Method: simulated rails that deliver at a rate; in the middle of a message one is slowed to a
//         tenth. Bytes are compared, not times: without correction it would carry half of the rest.
#include <gtest/gtest.h>

#include <vector>

#include "tests/simulation/job.hpp"

namespace headway::packets::slowed_tests {
namespace {

TEST(slowed_rail, carries_a_tenth_of_the_rest_and_not_half_of_it) {
  constexpr std::uint64_t bytes_per_us = 400;
  simulation::job job({.rails = 2,
                       .cut_off_ns = 1'500'000'000,
                       .rail = {.latency_ns = 1'000,
                                .jitter_ns = 0,
                                .bytes_per_us = bytes_per_us,
                                .flight_bytes_max = 64 << 20},
                       .difficulty = {.retry_one_in = 0, .posted_one_in = 1, .refuse_one_in = 0}});
  messages::context* contexts[] = {job.open(0, 3), job.open(1, 3)};
  constexpr std::size_t bytes = 64 << 20;
  std::vector<std::byte> sent(bytes), received(bytes);
  for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 4093);
  messages::request send, receive;
  job.messages(1).receive(*contexts[1], receive, received, 0, 7);
  job.messages(0).send(*contexts[0], send, sent, 1, 7);
  auto& net = job.net();
  ASSERT_TRUE(job.run_until([&] { return net.put_bytes(0) + net.put_bytes(1) >= bytes / 2; }));
  const auto before = net.put_bytes(1);
  EXPECT_GT(before, bytes / 8) << "both carried their part until then";
  net.set_rate(1, bytes_per_us / 10);
  ASSERT_TRUE(job.run_until([&] { return send.test() && receive.test(); }));
  EXPECT_TRUE(sent == received);
  EXPECT_LT(net.put_bytes(1) - before, bytes / 8) << "half of what it would have been";
  for (std::size_t i = 0; i < 2; ++i) job.messages(i).close_context(contexts[i]);
}

}  // namespace
}  // namespace headway::packets::slowed_tests
