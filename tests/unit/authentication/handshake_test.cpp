#include "authentication/handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace headway::authentication {
namespace {

using stage = handshake::stage;
using bytes = std::vector<std::byte>;

constexpr protocol a_protocol{
    .name = "a test's names 1", .hello_bytes = 5, .proof_bytes = 3, .decision_bytes = 2};
constexpr protocol another_protocol{
    .name = "a test's names 2", .hello_bytes = 5, .proof_bytes = 3, .decision_bytes = 2};

key key_of(int seed) {
  key made;
  made.fill(static_cast<std::byte>(seed));
  return made;
}
bytes payload(std::size_t count, int value) { return bytes(count, static_cast<std::byte>(value)); }

handshake initiator(int seed = 1, const protocol& use = a_protocol) {
  return handshake::initiator(key_of(seed), use, payload(5, 50), payload(3, 30));
}
handshake responder(const protocol& use = a_protocol) { return handshake::responder(use); }

bytes said_by(handshake& one) {
  const bytes said(one.output().begin(), one.output().end());
  one.sent(said.size());
  return said;
}

/// Gives it the bytes in parts of at most `part` bytes.
stage give(handshake& to, std::span<const std::byte> said, std::size_t part = 1000) {
  while (!said.empty()) {
    const auto room = to.wanted();
    const auto count = std::min({part, said.size(), room.size()});
    if (count == 0) break;
    std::ranges::copy(said.first(count), room.begin());
    said = said.subspan(count);
    to.received(count);
  }
  EXPECT_TRUE(said.empty()) << "wants no more";
  return to.now();
}

TEST(handshake, two_that_share_the_key_prove_themselves_and_learn_the_payloads) {
  for (const std::size_t part : {1u, 7u, 1000u}) {
    auto a = initiator(), b = responder();
    ASSERT_EQ(give(b, said_by(a), part), stage::claimed);
    EXPECT_TRUE(b.wanted().empty());
    EXPECT_TRUE(std::ranges::equal(b.hello(), payload(5, 50)));
    b.accept(key_of(1));
    ASSERT_EQ(give(a, said_by(b), part), stage::decision);
    ASSERT_EQ(give(b, said_by(a), part), stage::judging);
    EXPECT_TRUE(std::ranges::equal(b.proof(), payload(3, 30)));
    EXPECT_TRUE(b.wanted().empty());
    b.decide(payload(2, 20));
    ASSERT_EQ(give(a, said_by(b), part), stage::finished);
    EXPECT_TRUE(std::ranges::equal(a.decision(), payload(2, 20)));
    EXPECT_TRUE(a.wanted().empty());
  }
}

TEST(handshake, a_claim_that_is_refused_gets_no_answer) {
  auto a = initiator(), b = responder();
  give(b, said_by(a));
  b.refuse();
  EXPECT_EQ(b.now(), stage::broken);
  EXPECT_TRUE(b.output().empty());
  EXPECT_TRUE(b.wanted().empty());
}

TEST(handshake, another_key_is_seen_by_the_initiator_before_it_proves_anything) {
  auto a = initiator(1), b = responder();
  give(b, said_by(a));
  b.accept(key_of(2));
  EXPECT_EQ(give(a, said_by(b)), stage::broken);
  EXPECT_TRUE(a.output().empty());
}

TEST(handshake, another_protocol_is_refused_by_its_name) {
  auto a = initiator(), b = responder(another_protocol);
  EXPECT_EQ(give(b, said_by(a)), stage::broken);
}

TEST(handshake, no_changed_bit_of_any_message_is_believed) {
  // The hello is proved by the challenge, so a change in it breaks the initiator's next step.
  for (int step = 0; step < 4; ++step) {
    for (std::size_t bit = 0;; bit += 3) {
      auto a = initiator(), b = responder();
      handshake *from = &a, *to = &b;
      bytes said = said_by(a);
      for (int at = 0; at < step; ++at) {
        give(*to, said);
        if (b.now() == stage::claimed) b.accept(key_of(1));
        if (b.now() == stage::judging) b.decide(payload(2, 20));
        std::swap(from, to);
        said = said_by(*from);
      }
      if (bit >= 8 * said.size()) break;
      said[bit / 8] ^= std::byte{1} << bit % 8;
      give(*to, said);
      if (step == 0 && b.now() == stage::claimed) {
        b.accept(key_of(1));
        ASSERT_EQ(give(a, said_by(b)), stage::broken) << "hello, bit " << bit;
      } else {
        ASSERT_EQ(to->now(), stage::broken) << "step " << step << ", bit " << bit;
      }
    }
  }
}

TEST(handshake, a_replayed_proof_and_a_reflected_one_are_refused) {
  auto a = initiator(), b = responder(), again = responder();
  const auto hello = said_by(a);
  give(b, hello);
  b.accept(key_of(1));
  const auto challenge = said_by(b);
  give(a, challenge);
  const auto proof = said_by(a);
  give(again, hello);
  again.accept(key_of(1));
  EXPECT_EQ(give(again, proof), stage::broken) << "of another connection";
  bytes reflected = payload(3, 30);
  reflected.insert(reflected.end(), challenge.end() - mac_bytes, challenge.end());
  EXPECT_EQ(give(b, reflected), stage::broken) << "the responder's own MAC";
}

/// The keys of both sides after a whole handshake, which must be the same.
session_keys agreed(handshake&& a, handshake&& b) {
  give(b, said_by(a));
  b.accept(key_of(1));
  give(a, said_by(b));
  give(b, said_by(a));
  b.decide(payload(2, 20));
  EXPECT_EQ(give(a, said_by(b)), stage::finished);
  const auto ours = a.keys(), theirs = b.keys();
  EXPECT_EQ(ours.from_initiator, theirs.from_initiator);
  EXPECT_EQ(ours.from_responder, theirs.from_responder);
  return ours;
}

TEST(handshake, the_keys_of_two_directions_and_of_two_connections_have_nothing_in_common) {
  const auto first = agreed(initiator(), responder());
  EXPECT_NE(first.from_initiator, first.from_responder);
  const auto second = agreed(initiator(), responder());
  EXPECT_NE(first.from_initiator, second.from_initiator);
  EXPECT_NE(first.from_responder, second.from_responder);
  EXPECT_NE(first.from_initiator, second.from_responder);
}

TEST(handshake, a_replayed_hello_leads_to_another_key) {
  auto a = initiator();
  auto same = a;  // says the same nonce again
  const auto first = agreed(std::move(a), responder());
  EXPECT_NE(agreed(std::move(same), responder()).from_initiator, first.from_initiator);
}

}  // namespace
}  // namespace headway::authentication
