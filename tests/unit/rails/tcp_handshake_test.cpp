#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "rails/tcp/handshake.hpp"

namespace headway::rails::tcp::tcp_handshake_tests {
namespace {

using stage = handshake::stage;

std::array<std::byte, 32> secret_of(int seed) {
  std::array<std::byte, 32> s;
  s.fill(static_cast<std::byte>(seed));
  return s;
}

credentials named(int secret, std::string_view job, std::uint32_t rank) {
  return {.secret = secret_of(secret), .self = {.job = processes::job_id_of(job), .rank = rank}};
}

processes::process_id of_job(std::uint32_t rank) {
  return {.job = processes::job_id_of("job"), .rank = rank};
}

class tcp_handshake : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(sodium_init(), 0); }
  credentials three = named(1, "job", 3);
  credentials five = named(1, "job", 5);
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

/// Until the answerer is to decide.
void prove_both(handshake& dialler, handshake& answerer) {
  carry(dialler, answerer);
  carry(answerer, dialler);
  carry(dialler, answerer);
}

TEST_F(tcp_handshake, processes_of_two_jobs_use_the_key_of_the_two) {
  job_keys here, there;
  here.add(processes::job_id_of("other"), secret_of(7));
  here.add(processes::job_id_of("other"), secret_of(8));  // the first one stays
  there.add(processes::job_id_of("job"), secret_of(7));
  auto other = named(2, "other", 0);
  five.others = &here;
  other.others = &there;
  auto a = handshake::dial(other, of_job(5), {});
  auto b = handshake::answer(five);
  prove_both(a, b);
  EXPECT_EQ(b.now(), stage::judging);
  EXPECT_EQ(b.peer(), other.self);
  const job_keys none;
  five.others = &none;
  auto unknown = handshake::answer(five);
  auto again = handshake::dial(other, of_job(5), {});
  carry(again, unknown);
  EXPECT_EQ(unknown.now(), stage::broken) << "of a job that is not known";
  EXPECT_TRUE(unknown.output().empty());
}

TEST_F(tcp_handshake, two_that_share_the_secret_prove_themselves_and_hear_the_verdict) {
  for (const auto v : {verdict::welcome, verdict::taken, verdict::gone, verdict::other_encryption})
    for (const std::size_t part : {1u, 7u, 1000u}) {
      auto a = handshake::dial(three, of_job(5), {.received = 1'000'000'000'000, .calls = 3});
      auto b = handshake::answer(five);
      carry(a, b, part);
      EXPECT_EQ(b.peer(), of_job(3));
      carry(b, a, part);
      EXPECT_EQ(a.now(), stage::decision);
      carry(a, b, part);
      ASSERT_EQ(b.now(), stage::judging);
      EXPECT_EQ(b.peer_resume_point(), (resume_point{.received = 1'000'000'000'000, .calls = 3}));
      b.decide(v, {.received = 17, .calls = 4});
      carry(b, a, part);
      EXPECT_EQ(a.now(), stage::finished);
      EXPECT_EQ(a.judged(), v);
      EXPECT_EQ(a.peer_resume_point(), (resume_point{.received = 17, .calls = 4}));
    }
}

TEST_F(tcp_handshake, never_wants_a_byte_behind_the_handshake) {
  auto a = handshake::dial(three, of_job(5), {});
  auto b = handshake::answer(five);
  prove_both(a, b);
  EXPECT_TRUE(b.wanted().empty());
  b.decide(verdict::welcome, {});
  carry(b, a);
  EXPECT_TRUE(a.wanted().empty());
}

TEST_F(tcp_handshake, a_wrong_secret_is_refused_by_the_dialler_too) {
  // The job is the same by name, the secret is another.
  auto liar = named(2, "job", 5);
  auto a = handshake::dial(three, of_job(5), {});
  auto b = handshake::answer(liar);
  carry(a, b);
  carry(b, a);
  EXPECT_EQ(a.now(), stage::broken);
  EXPECT_TRUE(a.output().empty()) << "nothing is proved to a liar";
}

TEST_F(tcp_handshake, a_wrong_secret_is_refused_by_the_answerer) {
  auto liar = named(2, "job", 3);
  auto a = handshake::dial(liar, of_job(5), {});
  auto b = handshake::answer(five);
  carry(a, b);
  ASSERT_EQ(b.now(), stage::proof);
  // The attacker ignores the challenge and answers with any bytes.
  std::ranges::fill(b.wanted(), std::byte{42});
  EXPECT_EQ(b.received(b.wanted().size()), stage::broken);
}

TEST_F(tcp_handshake, who_means_another_process_or_has_the_same_name_is_refused) {
  const auto refused = [&](const credentials& from, processes::process_id to) {
    auto a = handshake::dial(from, to, {});
    auto b = handshake::answer(five);
    carry(a, b);
    return b.now() == stage::broken && b.output().empty();
  };
  EXPECT_FALSE(refused(three, of_job(5)));
  EXPECT_TRUE(refused(three, of_job(4))) << "another rank";
  EXPECT_TRUE(refused(three, {.job = processes::job_id_of("another job"), .rank = 5}));
  EXPECT_TRUE(refused(named(1, "job", 5), of_job(5))) << "myself";
}

TEST_F(tcp_handshake, a_process_of_another_job_that_knows_the_secret_is_named_by_its_job) {
  auto a = handshake::dial(named(1, "another job", 5), of_job(5), {});
  auto b = handshake::answer(five);
  prove_both(a, b);
  ASSERT_EQ(b.now(), stage::judging);
  EXPECT_EQ(b.peer(),
            (processes::process_id{.job = processes::job_id_of("another job"), .rank = 5}));
}

TEST_F(tcp_handshake, a_replayed_proof_is_refused) {
  auto a = handshake::dial(three, of_job(5), {});
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
  auto a = handshake::dial(three, of_job(5), {});
  auto b = handshake::answer(five);
  carry(a, b);
  const std::vector<std::byte> challenge(b.output().begin(), b.output().end());
  b.sent(challenge.size());
  std::copy(challenge.end() - 32, challenge.end(), b.wanted().begin());
  EXPECT_EQ(b.received(32), stage::broken);
}

TEST_F(tcp_handshake, a_verdict_that_was_changed_on_the_way_is_refused) {
  auto a = handshake::dial(three, of_job(5), {});
  auto b = handshake::answer(five);
  prove_both(a, b);
  b.decide(verdict::taken, {});
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

TEST_F(tcp_handshake, what_one_side_sends_with_the_other_receives_with) {
  auto a = handshake::dial(three, of_job(5), {});
  auto b = handshake::answer(five);
  prove_both(a, b);
  b.decide(verdict::welcome, {});
  carry(b, a);
  EXPECT_EQ(a.keys().send, b.keys().receive);
  EXPECT_EQ(a.keys().receive, b.keys().send);
  EXPECT_NE(a.keys().send, a.keys().receive);
}

TEST_F(tcp_handshake, whether_the_dialler_encrypts_is_known_and_cannot_be_changed_on_the_way) {
  for (const bool on : {false, true}) {
    three.encrypts = on;
    for (const bool changed : {false, true}) {
      auto a = handshake::dial(three, of_job(5), {});
      auto b = handshake::answer(five);
      std::vector<std::byte> hello(a.output().begin(), a.output().end());
      a.sent(hello.size());
      hello[16 + 24] ^=
          static_cast<std::byte>(changed);  // behind the protocol's name and both names
      std::ranges::copy(hello, b.wanted().begin());
      b.received(hello.size());
      EXPECT_EQ(b.peer_encrypts(), on != changed);
      carry(b, a);
      EXPECT_EQ(a.now(), changed ? stage::broken : stage::decision);
    }
  }
}

TEST_F(tcp_handshake, a_choice_of_encryption_that_does_not_exist_is_refused) {
  auto a = handshake::dial(three, of_job(5), {});
  auto b = handshake::answer(five);
  std::ranges::copy(a.output(), b.wanted().begin());
  b.wanted()[16 + 24] = std::byte{2};
  EXPECT_EQ(b.received(a.output().size()), stage::broken);
}

}  // namespace
}  // namespace headway::rails::tcp::tcp_handshake_tests
