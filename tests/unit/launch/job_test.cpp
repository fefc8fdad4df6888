// A job's use of its launcher: a secret, and records that a node looks up once.
#include "launch/job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "fake_server.hpp"
#include "launch/pmi1/pmi1_launcher.hpp"
#include "launch/single/single_launcher.hpp"

namespace headway::launch::job_tests {
namespace {

base::result<std::unique_ptr<job>> join(const fake_server& server, int rank, int size) {
  const auto place = fmt::format("PMI_RANK={}", rank), of = fmt::format("PMI_SIZE={}", size);
  const char* const entries[] = {place.c_str(), of.c_str(), nullptr};
  auto found = pmi1_launcher::inherited(environment(entries), server.client_end(rank), settings{});
  if (!found) return std::unexpected(found.error());
  return job::join(std::move(*found));
}

std::vector<std::byte> record(int rank) {
  return std::vector<std::byte>(300, static_cast<std::byte>(rank));
}

template <class Body>
void on_ranks(int size, Body body) {
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.emplace_back([&, rank] { body(rank); });
  for (auto& rank : ranks) rank.join();
}

std::size_t look_ups_at(fake_server& server) {
  return static_cast<std::size_t>(std::ranges::count_if(
      server.heard(), [](const auto& line) { return line.starts_with("cmd=get "); }));
}

TEST(job, n_processes_of_a_node_look_up_at_most_2n_values_in_all) {
  constexpr int size = 12;
  fake_server server(dialects().front(), size);
  std::atomic<std::uint64_t> counted{0};
  on_ranks(size, [&](int rank) {
    const auto joined = join(server, rank, size);
    ASSERT_TRUE(joined) << joined.error().text;
    ASSERT_TRUE((*joined)->publish(record(rank)));
    for (int other = 0; other < size; ++other)
      EXPECT_EQ((*joined)->record_of(other), record(other));
    counted += (*joined)->look_ups();
    EXPECT_TRUE((*joined)->finish());
  });
  EXPECT_LE(counted.load(), 2u * size);
  EXPECT_EQ(look_ups_at(server), counted.load());
}

TEST(job, what_a_node_needs_once_is_made_by_one_of_its_processes) {
  constexpr int size = 6;
  fake_server server(dialects().front(), size);
  std::atomic<int> made{0};
  on_ranks(size, [&](int rank) {
    const auto joined = join(server, rank, size);
    ASSERT_TRUE(joined) << joined.error().text;
    const auto found = (*joined)->once_a_node([&] {
      made.fetch_add(1);
      return record(77);
    });
    EXPECT_EQ(found, record(77));
    ASSERT_TRUE((*joined)->publish(record(rank)));
    EXPECT_TRUE((*joined)->finish());
  });
  EXPECT_EQ(made.load(), 1);
}

TEST(job, of_one_process_makes_what_its_node_needs_itself) {
  const auto alone = job::join(std::make_unique<single_launcher>());
  ASSERT_TRUE(alone);
  EXPECT_EQ((*alone)->once_a_node([] { return record(5); }), record(5));
}

TEST(job, all_processes_know_one_secret_that_is_not_zero) {
  for (const auto& speech : dialects()) {
    fake_server server(speech, 3);
    job_secret found[3] = {};
    on_ranks(3, [&](int rank) {
      const auto joined = join(server, rank, 3);
      ASSERT_TRUE(joined) << joined.error().text;
      found[rank] = (*joined)->secret();
      EXPECT_TRUE((*joined)->finish());
    });
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(found[0], found[2]);
    EXPECT_NE(found[0], job_secret{});
  }
}

TEST(job, a_secret_that_came_back_damaged_is_refused) {
  for (const auto* forged : {"", "1:AAAA", "1:_____w"}) {
    fake_server server(dialects().front(), 2, {{"headway-1-0-0", forged}});
    on_ranks(2, [&](int rank) { EXPECT_EQ(join(server, rank, 2).has_value(), rank == 0); });
  }
}

TEST(job, a_single_process_has_its_own_record_and_a_secret) {
  const auto alone = job::join(std::make_unique<single_launcher>());
  ASSERT_TRUE(alone);
  EXPECT_NE((*alone)->secret(), job_secret{});
  ASSERT_TRUE((*alone)->publish(record(5)));
  EXPECT_EQ((*alone)->record_of(0), record(5));
  EXPECT_FALSE((*alone)->record_of(1));
  EXPECT_FALSE((*alone)->record_of(-1));
  EXPECT_EQ((*alone)->look_ups(), 0u);
  EXPECT_TRUE((*alone)->finish());
}

TEST(job, a_record_that_is_too_large_is_refused) {
  const auto alone = job::join(std::make_unique<single_launcher>());
  EXPECT_FALSE((*alone)->publish(std::vector<std::byte>((1 << 20) + 1)));
}

}  // namespace
}  // namespace headway::launch::job_tests
