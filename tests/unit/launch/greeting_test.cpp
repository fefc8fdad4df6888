// Who is let in at a rendezvous.
#include "launch/greeting.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace headway::launch {
namespace {

using stage = greeting::stage;
using bytes = std::vector<std::byte>;

bytes said_by(const greeting& one) { return {one.output().begin(), one.output().end()}; }

const bytes nonce(greeting::nonce_bytes, std::byte{9});

TEST(greeting, a_guest_that_knows_the_secret_is_given_its_rank) {
  const auto key = meeting_key::of("the same secret");
  auto guest = greeting::guest(key, 3);
  auto host = greeting::host(key);
  host.expect(3);
  ASSERT_EQ(host.received(guest.output()), stage::proof);
  ASSERT_EQ(guest.received(host.output()), stage::decision);
  ASSERT_EQ(host.received(guest.output()), stage::judging);
  EXPECT_EQ(host.processes(), 3u);
  host.decide(reception::welcome, 2, nonce);
  ASSERT_EQ(guest.received(host.output()), stage::finished);
  EXPECT_EQ(guest.received_as(), reception::welcome);
  EXPECT_EQ(guest.rank(), 2u);
  EXPECT_EQ(guest.host_processes(), 3u);
  EXPECT_EQ(key.job(guest.job_nonce()), key.job(nonce));
}

TEST(greeting, another_secret_is_seen_by_the_guest_before_it_proves_anything) {
  auto guest = greeting::guest(meeting_key::of("one secret"), 2);
  auto host = greeting::host(meeting_key::of("another secret"));
  host.received(guest.output());
  EXPECT_EQ(guest.received(host.output()), stage::broken);
  EXPECT_TRUE(guest.output().empty());
}

TEST(greeting, no_changed_bit_of_what_follows_the_hello_is_believed) {
  const auto key = meeting_key::of("secret");
  for (int step = 0; step < 3; ++step) {
    for (std::size_t bit = 0;; bit += 5) {
      auto guest = greeting::guest(key, 2);
      auto host = greeting::host(key);
      host.received(guest.output());
      greeting* to = &guest;
      auto words = said_by(host);  // the challenge
      if (step > 0) {
        guest.received(words);
        words = said_by(guest);  // the proof
        to = &host;
      }
      if (step > 1) {
        host.received(words);
        host.decide(reception::welcome, 1, nonce);
        words = said_by(host);  // the decision
        to = &guest;
      }
      if (bit >= 8 * words.size()) break;
      words[bit / 8] ^= std::byte{1} << bit % 8;
      ASSERT_EQ(to->received(words), stage::broken) << "step " << step << ", bit " << bit;
    }
  }
}

TEST(greeting, a_proof_cannot_be_used_again) {
  const auto key = meeting_key::of("secret");
  auto guest = greeting::guest(key, 2);
  const auto hello = said_by(guest);
  auto host = greeting::host(key);
  host.received(hello);
  guest.received(host.output());
  const auto proof = said_by(guest);
  auto again = greeting::host(key);
  again.received(hello);
  EXPECT_EQ(again.received(proof), stage::broken);
}

}  // namespace
}  // namespace headway::launch
