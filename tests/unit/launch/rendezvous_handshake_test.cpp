// Which processes a rendezvous accepts.
#include "launch/rendezvous/rendezvous_handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace headway::launch::rendezvous_handshake_tests {
namespace {

using stage = rendezvous_handshake::stage;
using bytes = std::vector<std::byte>;

bytes said_by(rendezvous_handshake& one) {
  const bytes said(one.output().begin(), one.output().end());
  one.sent(said.size());
  return said;
}

stage give(rendezvous_handshake& to, const bytes& said) {
  EXPECT_EQ(to.wanted().size(), said.size());
  std::ranges::copy(said, to.wanted().begin());
  return to.received(said.size());
}

rendezvous_decision welcome(std::uint32_t rank) {
  rendezvous_decision made{.how = admission::granted, .rank = rank, .processes = 3};
  made.job_nonce.fill(std::byte{9});
  return made;
}

TEST(rendezvous_handshake, a_guest_that_knows_the_secret_is_given_its_rank) {
  const auto key = rendezvous_key::of("the same secret");
  auto guest = rendezvous_handshake::guest(key, 3);
  auto host = rendezvous_handshake::host(key);
  ASSERT_EQ(give(host, said_by(guest)), stage::proof);
  ASSERT_EQ(give(guest, said_by(host)), stage::decision);
  ASSERT_EQ(give(host, said_by(guest)), stage::judging);
  EXPECT_EQ(host.processes(), 3u);
  host.decide(welcome(2));
  ASSERT_EQ(give(guest, said_by(host)), stage::finished);
  EXPECT_EQ(guest.decision().how, admission::granted);
  EXPECT_EQ(guest.decision().rank, 2u);
  EXPECT_EQ(guest.decision().processes, 3u);
  EXPECT_EQ(key.job(guest.decision().job_nonce), key.job(welcome(2).job_nonce));
}

TEST(rendezvous_handshake, another_secret_is_seen_by_the_guest_before_it_proves_anything) {
  auto guest = rendezvous_handshake::guest(rendezvous_key::of("one secret"), 2);
  auto host = rendezvous_handshake::host(rendezvous_key::of("another secret"));
  give(host, said_by(guest));
  EXPECT_EQ(give(guest, said_by(host)), stage::broken);
  EXPECT_TRUE(guest.output().empty());
}

TEST(rendezvous_handshake, no_changed_bit_of_what_follows_the_hello_is_believed) {
  const auto key = rendezvous_key::of("secret");
  for (int step = 0; step < 3; ++step) {
    for (std::size_t bit = 0;; bit += 5) {
      auto guest = rendezvous_handshake::guest(key, 2);
      auto host = rendezvous_handshake::host(key);
      give(host, said_by(guest));
      rendezvous_handshake* to = &guest;
      auto words = said_by(host);  // the challenge
      if (step > 0) {
        give(guest, words);
        words = said_by(guest);  // the proof
        to = &host;
      }
      if (step > 1) {
        give(host, words);
        host.decide(welcome(1));
        words = said_by(host);  // the decision
        to = &guest;
      }
      if (bit >= 8 * words.size()) break;
      words[bit / 8] ^= std::byte{1} << bit % 8;
      ASSERT_EQ(give(*to, words), stage::broken) << "step " << step << ", bit " << bit;
    }
  }
}

TEST(rendezvous_handshake, a_proof_cannot_be_used_again) {
  const auto key = rendezvous_key::of("secret");
  auto guest = rendezvous_handshake::guest(key, 2);
  const auto hello = said_by(guest);
  auto host = rendezvous_handshake::host(key);
  give(host, hello);
  give(guest, said_by(host));
  const auto proof = said_by(guest);
  auto again = rendezvous_handshake::host(key);
  give(again, hello);
  EXPECT_EQ(give(again, proof), stage::broken);
}

}  // namespace
}  // namespace headway::launch::rendezvous_handshake_tests
