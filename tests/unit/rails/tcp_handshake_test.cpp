#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "rails/tcp/handshake.hpp"

namespace headway::rails::tcp {
namespace {

using stage = handshake::stage;

std::array<std::byte, 32> secret_of(int seed) {
  std::array<std::byte, 32> s;
  s.fill(static_cast<std::byte>(seed));
  return s;
}

class tcp_handshake : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(sodium_init(), 0); }
  credentials three = credentials::make(secret_of(1), "job", 3, 8);
  credentials five = credentials::make(secret_of(1), "job", 5, 8);
};

/// Carries one side's output to the other, in parts of at most `part` bytes.
void carry(handshake& from, handshake& to, std::size_t part = 1000) {
  while (!from.output().empty()) {
    const auto room = to.wanted();
    const auto bytes = std::min({part, from.output().size(), room.size()});
    if (bytes == 0) return;
    std::memcpy(room.data(), from.output().data(), bytes);
    from.sent(bytes);
    to.received(bytes);
  }
}

TEST_F(tcp_handshake, two_that_share_the_secret_prove_themselves_and_hear_the_verdict) {
  for (const auto v : {verdict::welcome, verdict::taken, verdict::gone})
    for (const std::size_t part : {1u, 7u, 1000u}) {
      auto a = handshake::dial(three, 5);
      auto b = handshake::answer(five);
      carry(a, b, part);
      EXPECT_EQ(b.peer(), 3u);
      carry(b, a, part);
      EXPECT_EQ(a.now(), stage::decision);
      carry(a, b, part);
      ASSERT_EQ(b.now(), stage::judging);
      b.decide(v);
      carry(b, a, part);
      EXPECT_EQ(a.now(), stage::finished);
      EXPECT_EQ(a.judged(), v);
    }
}

TEST_F(tcp_handshake, never_wants_a_byte_behind_the_handshake) {
  auto a = handshake::dial(three, 5);
  auto b = handshake::answer(five);
  carry(a, b);
  carry(b, a);
  carry(a, b);
  EXPECT_TRUE(b.wanted().empty());
  b.decide(verdict::welcome);
  carry(b, a);
  EXPECT_TRUE(a.wanted().empty());
}

TEST_F(tcp_handshake, a_wrong_secret_is_refused_by_the_dialler_too) {
  // The job is the same by name, the secret is another.
  auto liar = credentials::make(secret_of(2), "job", 5, 8);
  auto a = handshake::dial(three, 5);
  auto b = handshake::answer(liar);
  carry(a, b);
  carry(b, a);
  EXPECT_EQ(a.now(), stage::broken);
  EXPECT_TRUE(a.output().empty()) << "nothing is proved to a liar";
}

TEST_F(tcp_handshake, a_wrong_secret_is_refused_by_the_answerer) {
  auto liar = credentials::make(secret_of(2), "job", 3, 8);
  auto a = handshake::dial(liar, 5);
  auto b = handshake::answer(five);
  carry(a, b);
  ASSERT_EQ(b.now(), stage::proof);
  // The attacker ignores the challenge and answers with any bytes.
  std::ranges::fill(b.wanted(), std::byte{42});
  EXPECT_EQ(b.received(b.wanted().size()), stage::broken);
}

TEST_F(tcp_handshake, another_job_another_rank_and_ranks_that_do_not_exist_are_refused) {
  const auto refused = [&](const credentials& from, std::uint32_t to) {
    auto a = handshake::dial(from, to);
    auto b = handshake::answer(five);
    carry(a, b);
    return b.now() == stage::broken && b.output().empty();
  };
  EXPECT_FALSE(refused(three, 5));
  EXPECT_TRUE(refused(credentials::make(secret_of(1), "another job", 3, 8), 5));
  EXPECT_TRUE(refused(three, 4)) << "meant for somebody else";
  EXPECT_TRUE(refused(credentials::make(secret_of(1), "job", 8, 9), 5)) << "rank 8 of 8";
  EXPECT_TRUE(refused(credentials::make(secret_of(1), "job", 5, 8), 5)) << "myself";
}

TEST_F(tcp_handshake, a_replayed_proof_is_refused) {
  auto a = handshake::dial(three, 5);
  const std::vector<std::byte> hello(a.output().begin(), a.output().end());
  auto b = handshake::answer(five);
  carry(a, b);
  carry(b, a);
  const std::vector<std::byte> proof(a.output().begin(), a.output().end());
  auto again = handshake::answer(five);
  std::ranges::copy(hello, again.wanted().begin());
  ASSERT_EQ(again.received(hello.size()), stage::proof);
  std::ranges::copy(proof, again.wanted().begin());
  EXPECT_EQ(again.received(proof.size()), stage::broken);
}

TEST_F(tcp_handshake, a_reflected_proof_is_refused) {
  // The answerer's own MAC sent back to it is not the dialler's.
  auto a = handshake::dial(three, 5);
  auto b = handshake::answer(five);
  carry(a, b);
  const std::vector<std::byte> challenge(b.output().begin(), b.output().end());
  b.sent(challenge.size());
  std::copy(challenge.end() - 32, challenge.end(), b.wanted().begin());
  EXPECT_EQ(b.received(32), stage::broken);
}

TEST_F(tcp_handshake, a_verdict_that_was_changed_on_the_way_is_refused) {
  auto a = handshake::dial(three, 5);
  auto b = handshake::answer(five);
  carry(a, b);
  carry(b, a);
  carry(a, b);
  b.decide(verdict::taken);
  std::vector<std::byte> decision(b.output().begin(), b.output().end());
  decision[0] = static_cast<std::byte>(verdict::welcome);
  std::ranges::copy(decision, a.wanted().begin());
  EXPECT_EQ(a.received(decision.size()), stage::broken);
}

TEST_F(tcp_handshake, garbage_is_refused_when_the_first_message_is_whole) {
  auto b = handshake::answer(five);
  std::ranges::fill(b.wanted(), std::byte{'G'});
  EXPECT_EQ(b.received(b.wanted().size()), stage::broken);
  EXPECT_TRUE(b.wanted().empty());
}

}  // namespace
}  // namespace headway::rails::tcp
