#include <gtest/gtest.h>

#include <array>

#include "collectives/exchange_transport.hpp"
#include "messages/operation_log.hpp"
#include "tests/simulation/job.hpp"

namespace headway::collectives {
namespace {

using messages::outcome;

/// A rank that is told of different calls fails. The others are told by themselves, and must not
/// learn from it that something has failed, because they would not know what.
TEST(exchange_transport, tells_of_a_failure_unless_the_log_is_broken) {
  for (const bool broken : {false, true}) {
    simulation::job job({.processes = 2});
    std::array<messages::context*, 2> contexts{};
    for (std::size_t i = 0; i < 2; ++i) contexts[i] = job.open(i, 0, true);
    std::array<std::byte, 8> room{};
    messages::request sent, received;
    const messages::label as = messages::operation_tags.of(1);
    exchange_transport from(job.messages(0), *contexts[0]), to(job.messages(1), *contexts[1]);
    if (broken) static_cast<void>(from.log().break_with({}));
    to.receive(received, room, 0, as);
    from.send_failure(sent, outcome::failed, room.size(), 1, as);
    ASSERT_TRUE(job.run_until([&] { return sent.test(); }));
    ASSERT_TRUE(job.run_until([&] { return received.test(); }));
    EXPECT_EQ(received.arrived.how == outcome::failed, broken);
    EXPECT_EQ(to.log().is_broken(), broken);
    for (std::size_t i = 0; i < 2; ++i) job.messages(i).close_context(contexts[i]);
  }
}

}  // namespace
}  // namespace headway::collectives
