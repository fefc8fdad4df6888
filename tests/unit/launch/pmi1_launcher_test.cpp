// The client against a fake server, in the dialects of all known servers.
#include "launch/pmi1/pmi1_launcher.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/clock.hpp"
#include "fake_server.hpp"
#include "launch/join.hpp"

namespace headway::launch::pmi1_launcher_tests {
namespace {

using ::testing::HasSubstr;

base::result<std::unique_ptr<launcher>> connect(int descriptor, int rank, int size) {
  const auto fd = fmt::format("PMI_FD={}", descriptor), r = fmt::format("PMI_RANK={}", rank),
             s = fmt::format("PMI_SIZE={}", size);
  const char* const entries[] = {fd.c_str(), r.c_str(), s.c_str(), nullptr};
  return find_launcher(environment(entries), settings{});
}

std::vector<std::byte> bytes(std::size_t count, int seed) {
  std::vector<std::byte> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<std::byte>(i * 41 + static_cast<std::size_t>(seed));
  return made;
}

/// Puts a value and gets those of all, twice, as rank `rank`.
void play_rank(const fake_server& server, int rank, int size, std::size_t bytes_each) {
  const auto joined = connect(server.client_end(rank), rank, size);
  ASSERT_TRUE(joined) << joined.error().text;
  auto& self = **joined;
  EXPECT_EQ(self.who().rank, rank);
  EXPECT_EQ(self.who().size, size);
  EXPECT_EQ(self.who().launcher, "pmi-1");
  EXPECT_FALSE(self.secret());
  for (int round = 0; round < 2; ++round) {
    const auto exchanged = self.publish(bytes(bytes_each, rank + round));
    ASSERT_TRUE(exchanged) << exchanged.error().text;
    ASSERT_TRUE(self.barrier());
    for (int other = 0; other < size; ++other) {
      const auto found = self.value_of(other);
      ASSERT_TRUE(found) << found.error().text;
      EXPECT_EQ(*found, bytes(bytes_each, other + round));
    }
  }
  EXPECT_TRUE(self.finish());
}

template <class Body>
void on_ranks(int size, Body body) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.emplace_back([&, rank] { body(rank); });
  for (auto& rank : ranks) rank.join();
}

class pmi1_launcher_with : public ::testing::TestWithParam<dialect> {};

TEST_P(pmi1_launcher_with, exchanges_values_of_any_size_and_keeps_each_line_within_1024_bytes) {
  for (const std::size_t size : {1u, 100u, 5'000u, 30'000u}) {
    fake_server server(GetParam(), 3);
    on_ranks(3, [&](int rank) { play_rank(server, rank, 3, size); });
    for (const auto& line : server.heard()) EXPECT_LE(line.size() + 1, 1024u);
  }
}

TEST_P(pmi1_launcher_with,
       asks_five_times_to_join_twice_to_exchange_once_to_look_up_and_once_to_finish) {
  fake_server server(GetParam(), 1);
  {
    const auto joined = connect(server.client_end(0), 0, 1);
    ASSERT_TRUE(joined);
    ASSERT_TRUE((*joined)->publish(bytes(1, 0)));
    ASSERT_TRUE((*joined)->value_of(0));
    ASSERT_TRUE((*joined)->finish());
  }
  EXPECT_EQ(server.heard().size(), 9u);
}

INSTANTIATE_TEST_SUITE_P(every_dialect, pmi1_launcher_with, ::testing::ValuesIn(dialects()),
                         [](const auto& of) {
                           auto name = of.param.name;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

TEST(pmi_wire, names_the_answer_that_did_not_come_in_time) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  pmi_wire wire(ends[1], settings{});
  const auto reply =
      wire.ask("cmd=barrier_in\n", "barrier_out", base::machine_now_ns() + 20'000'000);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, base::fault_kind::timed_out);
  EXPECT_THAT(reply.error().text, HasSubstr("no barrier_out within"));
  close(ends[0]);
}

TEST(pmi_wire, refuses_an_answer_to_another_question) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_EQ(write(ends[0], "cmd=maxes\n", 10), 10);
  pmi_wire wire(ends[1], settings{});
  const auto reply =
      wire.ask("cmd=barrier_in\n", "barrier_out", base::machine_now_ns() + 5'000'000'000);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, base::fault_kind::bad_input);
  close(ends[0]);
}

TEST(pmi1_launcher, reports_that_the_launcher_is_gone) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  close(ends[0]);
  const auto joined = connect(ends[1], 0, 2);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().kind, base::fault_kind::peer_lost);
}

TEST(pmi1_launcher, refuses_damaged_values_of_other_ranks) {
  for (const auto* forged : {"", "x", "1", ":", "0:AAAA", "5000:AAAA", "2:AAAA", "1:A", "-1:AA"}) {
    fake_server server(dialects().front(), 1, {{"headway-1-0-0", forged}});
    const auto joined = connect(server.client_end(0), 0, 1);
    ASSERT_TRUE(joined);
    ASSERT_TRUE((*joined)->publish(bytes(3, 0)));
    EXPECT_FALSE((*joined)->value_of(0)) << forged;
  }
}

TEST(pmi1_launcher, names_a_rank_that_has_given_nothing) {
  fake_server server(dialects().front(), 1);
  const auto joined = connect(server.client_end(0), 0, 1);
  ASSERT_TRUE(joined);
  ASSERT_TRUE((*joined)->publish({}));
  const auto found = (*joined)->value_of(0);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text, HasSubstr("rank 0 has published nothing"));
}

TEST(pmi1_launcher, an_abort_reaches_a_launcher_and_gives_up_when_it_is_gone) {
  fake_server server(dialects().front(), 1);
  {
    const auto joined = connect(server.client_end(0), 0, 1);
    ASSERT_TRUE(joined);
    std::thread launcher([&] {  // closes the connection after a while
      usleep(50'000);
      shutdown(server.client_end(0), SHUT_RDWR);
    });
    (*joined)->abort(7, "");
    launcher.join();
  }
  EXPECT_EQ(server.heard().back(), "cmd=abort exitcode=7");
}

TEST(file_safe, keeps_plain_names_and_makes_changed_ones_different) {
  EXPECT_EQ(file_safe("kvs_29292_0_719398178_vm"), "kvs_29292_0_719398178_vm");
  EXPECT_EQ(file_safe("23.4"), "23.4");
  for (const auto* name : {"", "..", "a/b", "a b", "/etc/passwd"}) {
    const auto safe = file_safe(name);
    EXPECT_EQ(safe.find_first_of("/ \n"), std::string::npos) << safe;
    EXPECT_NE(safe.front(), '.');
  }
  EXPECT_NE(file_safe("a/b"), file_safe("a b"));
  EXPECT_LE(file_safe(std::string(300, 'x')).size(), 65u);
  EXPECT_NE(file_safe(std::string(300, 'x')), file_safe(std::string(301, 'x')));
}

}  // namespace
}  // namespace headway::launch::pmi1_launcher_tests
