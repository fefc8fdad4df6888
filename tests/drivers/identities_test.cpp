// The sentences of rails/driver.hpp about who is who: outside a process is named by job and rank,
// inside by its place in the process's own table, and every process numbers the others as it likes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "base/clock.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

using processes::process_id;

/// Two jobs of two, side by side in one world. Each process knows itself and the next one, at
/// places of its own behind others; the one before it is not in its table.
struct two_jobs {
  static constexpr std::uint32_t count = 4;

  explicit two_jobs(const kind& k) {
    const std::string world = fresh_job();
    for (std::uint32_t i = 0; i < count; ++i) {
      auto& table = headway::testing::new_table();
      for (std::uint32_t unused = 0; unused < 7 + 61 * i; ++unused)
        table.add({.job = 99, .rank = unused});
      if (i % 2 == 0) to_next.push_back(table.add(name_of(i + 1)));
      me.push_back(table.add(name_of(i)));
      if (i % 2 == 1) to_next.push_back(table.add(name_of(i + 1)));
      known.push_back(&table);
      stations.emplace_back(k.make_for({.world = world,
                                        .number = static_cast<int>(i),
                                        .size = count,
                                        .known = &table,
                                        .me = me.back()}));
    }
    for (auto& s : stations) {
      auto address = s->open();
      if (!address) throw std::runtime_error(address.error().text);
      addresses.push_back(std::move(*address));
    }
  }
  ~two_jobs() {
    for (auto& s : stations) s->close();
  }
  /// Equal ranks in two jobs: 0 and 2 are of one job, 1 and 3 of the other.
  static process_id name_of(std::uint32_t number) {
    return {.job = 1 + number % 2, .rank = number % count / 2};
  }
  /// False after a minute.
  [[nodiscard]] bool run_until(const std::function<bool()>& enough) {
    const auto deadline = base::machine_now_ns() + 60'000'000'000u;
    while (!enough()) {
      for (auto& s : stations) s.step();
      if (base::machine_now_ns() > deadline) return false;
    }
    return true;
  }

  /// The answer that is not `retry`.
  [[nodiscard]] post taken(const std::function<post()>& offer) {
    post said = post::retry;
    return run_until([&] { return (said = offer()) != post::retry; }) ? said : post::down;
  }

  std::vector<station> stations;
  std::vector<processes::table*> known;
  std::vector<peer_id> me, to_next;
  std::vector<std::vector<std::byte>> addresses;
};

class identities : public ::testing::TestWithParam<kind> {};

TEST_P(identities, one_that_speaks_first_is_added_to_the_table_by_job_and_rank) {
  two_jobs w(GetParam());
  for (std::uint32_t i = 0; i < w.count; ++i) {
    ASSERT_TRUE(w.stations[i]->connect(w.to_next[i], w.addresses[(i + 1) % w.count]));
    const auto text = std::to_string(i);
    ASSERT_NE(
        w.taken([&] { return w.stations[i]->send(w.to_next[i], {.header = bytes_of(text)}); }),
        post::down);
  }
  ASSERT_TRUE(w.run_until(
      [&] { return std::ranges::all_of(w.stations, [](auto& s) { return !s.called.empty(); }); }));
  for (std::uint32_t i = 0; i < w.count; ++i) {
    const auto before = (i + w.count - 1) % w.count;
    ASSERT_EQ(w.stations[i].called.size(), 1u);
    const auto from = w.stations[i].called.front();
    EXPECT_EQ(w.known[i]->at(from), w.name_of(before));
    EXPECT_EQ(w.known[i]->size(), 7 + 61 * i + 3) << "itself, the next, the one before";
    ASSERT_TRUE(w.stations[i]->connect(from, w.addresses[before]));
  }
  ASSERT_TRUE(w.run_until([&] {
    return std::ranges::all_of(w.stations, [](auto& s) { return !s.received.empty(); });
  }));
  for (std::uint32_t i = 0; i < w.count; ++i) {
    const auto before = (i + w.count - 1) % w.count;
    EXPECT_EQ(w.stations[i].received.front(), std::to_string(before));
    EXPECT_EQ(w.stations[i].received_from.front(), w.stations[i].called.front());
  }
}

TEST_P(identities, events_and_exposures_name_peers_by_the_numbers_of_their_own_process) {
  two_jobs w(GetParam());
  std::vector<peer_id> back;  // of the one before, to each
  for (std::uint32_t i = 0; i < w.count; ++i) {
    const auto before = (i + w.count - 1) % w.count;
    back.push_back(w.known[i]->add(w.name_of(before)));
    ASSERT_TRUE(w.stations[i]->connect(back[i], w.addresses[before]));
    ASSERT_TRUE(w.stations[i]->connect(w.to_next[i], w.addresses[(i + 1) % w.count]));
  }
  const auto payload = pattern(300'000, 3);
  for (std::uint32_t i = 0; i < w.count; ++i) {
    const auto next = (i + 1) % w.count;
    for (const auto who : {back[next], w.to_next[next]}) {
      std::vector<std::byte> target(payload.size());
      const auto shown =
          show(*w.stations[next], {.bytes = target, .who = process_set::only(who), .token = i});
      const auto said = w.taken([&] {
        return w.stations[i]->memory()->put(w.to_next[i], {.exposed = shown}, payload, i);
      });
      ASSERT_NE(said, post::down);
      ASSERT_NE(
          w.taken([&] { return w.stations[i]->send(w.to_next[i], {.header = bytes_of("next")}); }),
          post::down);
      auto& there = w.stations[next];
      ASSERT_TRUE(w.run_until([&] {
        return !there.received.empty() && (said == post::done || !w.stations[i].sent.empty()) &&
               (who != back[next] || there.landed_bytes == payload.size());
      }));
      for (int round = 0; round < 100; ++round) there.step();
      EXPECT_EQ(target == payload, who == back[next]) << "only the one that it is shown to writes";
      EXPECT_EQ(there.received_from.front(), back[next]);
      w.stations[next]->memory()->withdraw(shown);
      there.received.clear();
      there.received_from.clear();
      there.landed_bytes = 0;
      w.stations[i].sent.clear();
    }
  }
  for (auto& s : w.stations) EXPECT_TRUE(s.lost.empty());
}

TEST(identity, of_the_process_itself_may_have_any_number) {
  for (const auto& k : kinds()) {
    if (k.reaches_others) continue;
    auto& known = headway::testing::new_table();
    for (std::uint32_t rank = 3; rank > 0; --rank) known.add({.job = 2, .rank = rank});
    const peer_id me{1};
    station own(k.make_for({.world = fresh_job(), .known = &known, .me = me}));
    const auto address = own->open();
    ASSERT_TRUE(address && own->connect(me, *address));
    EXPECT_FALSE(own->connect(peer_id{0}, *address));
    ASSERT_EQ(send_soon(*own, me, {.header = bytes_of("x")}), post::done);
    for (int i = 0; i < 100 && own.received.empty(); ++i) own.step();
    ASSERT_EQ(own.received_from, std::vector<peer_id>{me}) << k.name;
    own->close();
  }
}

INSTANTIATE_TEST_SUITE_P(rails, identities, ::testing::ValuesIn(kinds_that_reach_others()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace headway::rails::testing
