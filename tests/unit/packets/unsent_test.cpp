// Packets that a driver has taken leave while no thread calls the library.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "tcp_world.hpp"

namespace headway::packets::testing::unsent_tests {
namespace {

TEST(unsent, the_first_message_to_a_peer_leaves_while_its_sender_computes) {
  world w({}, 1);
  std::array<std::byte, 8> sent{}, received{};
  messages::request send, receive;
  w.all[1].messages->receive(*w.all[1].context, receive, received, 0, 7);
  w.all[0].messages->send(*w.all[0].context, send, sent, 1, 7);
  EXPECT_TRUE(send.test()) << "it waits for the connection in the driver, and its memory is free";
  for (int i = 0; i < 10'000 && !receive.test(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(receive.test());
  for (int i = 0; i < 10'000 && w.all[0].engine->pending() != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(w.all[0].engine->pending(), 0u) << "nothing is left to do";
  const auto until = base::machine_now_ns() + patience_ns;
  ASSERT_TRUE(w.all[1].engine->wait_until(receive, until));
}

}  // namespace
}  // namespace headway::packets::testing::unsent_tests
