// The sentences of rails/driver.hpp about peers that are connected while a driver is at work, or
// that send before they are connected.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/clock.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

/// Open drivers of one kind without a connected peer.
struct open_drivers {
  open_drivers(const kind& k, std::uint32_t size) {
    const std::string job = fresh_job();
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      stations.emplace_back(k.make(job, static_cast<int>(rank), static_cast<int>(size)));
      auto address = stations.back()->open();
      if (!address) throw std::runtime_error(address.error().text);
      addresses.push_back(std::move(*address));
    }
  }
  ~open_drivers() {
    for (auto& s : stations) s->close();
  }
  [[nodiscard]] bool connect(std::uint32_t from, std::uint32_t to) {
    return stations[from]->connect(peer_id{to}, addresses[to]).has_value();
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

  std::vector<station> stations;
  std::vector<std::vector<std::byte>> addresses;
};

post send_number(driver& from, std::uint32_t to, std::uint32_t number) {
  post said = post::retry;
  for (int tries = 0; tries < 1'000'000 && said == post::retry; ++tries)
    if ((said = from.send(peer_id{to}, {.header = std::as_bytes(std::span(&number, 1))})) ==
        post::retry)
      std::this_thread::yield();
  return said;
}

/// The numbers that came from `from` are 0, 1, 2 …
bool in_order(const station& at, std::uint32_t from) {
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < at.received.size(); ++i) {
    if (at.received_from[i] != peer_id{from}) continue;
    std::uint32_t number = ~0u;
    std::memcpy(&number, at.received[i].data(), sizeof number);
    if (number != next++) return false;
  }
  return true;
}

class first_contact : public ::testing::TestWithParam<kind> {
 protected:
  [[nodiscard]] open_drivers make(std::uint32_t size = 2) const { return {GetParam(), size}; }
};

TEST_P(first_contact, sends_to_a_peer_that_is_not_connected_are_down) {
  auto w = make();
  EXPECT_EQ(w.stations[0]->send(peer_id{1}, {.header = bytes_of("x")}), post::down);
  ASSERT_TRUE(w.connect(1, 0));
  ASSERT_NE(send_number(*w.stations[1], 0, 0), post::down);
  ASSERT_TRUE(w.run_until([&] { return !w.stations[0].called.empty(); }));
  EXPECT_EQ(w.stations[0]->send(peer_id{1}, {.header = bytes_of("x")}), post::down);
}

TEST_P(first_contact, a_peer_that_speaks_first_is_called_once_and_received_after_connect) {
  auto w = make(3);
  for (const std::uint32_t from : {1u, 2u}) {
    ASSERT_TRUE(w.connect(from, 0));
    for (std::uint32_t i = 0; i < 50; ++i)
      ASSERT_NE(send_number(*w.stations[from], 0, i), post::down);
  }
  ASSERT_TRUE(w.run_until([&] { return w.stations[0].called.size() == 2; }));
  for (int i = 0; i < 50; ++i)
    for (auto& s : w.stations) s.step();
  EXPECT_EQ(w.stations[0].called.size(), 2u);
  EXPECT_TRUE(w.stations[0].received.empty());
  ASSERT_TRUE(w.connect(0, 2));
  ASSERT_TRUE(w.run_until([&] { return w.stations[0].received.size() == 50; }));
  EXPECT_TRUE(in_order(w.stations[0], 2));
  ASSERT_TRUE(w.connect(0, 1));
  ASSERT_TRUE(w.run_until([&] { return w.stations[0].received.size() == 100; }));
  EXPECT_TRUE(in_order(w.stations[0], 1));
  EXPECT_EQ(w.stations[0].called.size(), 2u);
  EXPECT_NE(send_number(*w.stations[0], 1, 0), post::down) << "and the way back is there";
  EXPECT_TRUE(w.run_until([&] { return w.stations[1].received.size() == 1; }));
}

TEST_P(first_contact, a_sleeper_is_woken_by_connect_for_what_was_kept) {
  auto w = make();
  if (!w.stations[0]->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  ASSERT_TRUE(w.connect(1, 0));
  ASSERT_NE(send_number(*w.stations[1], 0, 0), post::down);
  ASSERT_TRUE(w.run_until([&] { return !w.stations[0].called.empty(); }));
  for (int i = 0; i < 50; ++i)
    for (auto& s : w.stations) s.step();
  const bool sleeps = w.stations[0]->arm(true);
  ASSERT_TRUE(w.connect(0, 1));
  if (sleeps) {
    EXPECT_TRUE(readable(w.stations[0]->descriptor(), 5000));
  }
  EXPECT_TRUE(w.stations[0]->arm(false));
  EXPECT_TRUE(w.run_until([&] { return w.stations[0].received.size() == 1; }));
}

TEST_P(first_contact, what_a_peer_sent_before_it_closed_is_received_by_whoever_connects_later) {
  auto w = make();
  ASSERT_TRUE(w.connect(1, 0));
  for (std::uint32_t i = 0; i < 20; ++i) ASSERT_NE(send_number(*w.stations[1], 0, i), post::down);
  std::atomic<bool> closed{false};
  std::thread closing([&] {
    w.stations[1]->close();
    closed = true;
  });
  while (!closed) w.stations[0].step();
  closing.join();
  const auto address = w.addresses[1];
  while (w.stations.size() > 1) w.stations.pop_back();
  ASSERT_TRUE(w.run_until([&] { return !w.stations[0].called.empty(); }));
  ASSERT_TRUE(w.stations[0]->connect(peer_id{1}, address));
  ASSERT_TRUE(w.run_until([&] { return w.stations[0].received.size() == 20; }));
  EXPECT_TRUE(in_order(w.stations[0], 1));
  EXPECT_TRUE(w.run_until([&] {
    w.stations[0]->tick(base::machine_now_ns());
    return w.stations[0]->send(peer_id{1}, {.header = bytes_of("late")}) == post::down;
  }));
  EXPECT_TRUE(w.stations[0].lost.empty()) << "it has closed";
}

TEST_P(first_contact, two_that_connect_and_send_at_once_get_all_of_each_other) {
  constexpr std::uint32_t count = 2000;
  for (int round = 0; round < 5; ++round) {
    auto w = make();
    std::atomic<bool> well{true};
    const auto side = [&](std::uint32_t me) {
      auto& own = w.stations[me];
      if (!w.connect(me, 1 - me)) well = false;
      for (std::uint32_t i = 0; i < count && well; ++i) {
        post said;
        while ((said = own->send(peer_id{1 - me}, {.header = std::as_bytes(std::span(&i, 1))})) ==
               post::retry)
          own.step();
        if (said == post::down) well = false;
        if (i % 16 == 0) own.step();
      }
    };
    std::thread other([&] { side(1); });
    side(0);
    other.join();
    ASSERT_TRUE(well);
    ASSERT_TRUE(w.run_until([&] {
      return std::ranges::all_of(w.stations, [](auto& s) { return s.received.size() == count; });
    }));
    EXPECT_TRUE(in_order(w.stations[0], 1) && in_order(w.stations[1], 0));
    EXPECT_LE(w.stations[0].called.size() + w.stations[1].called.size(), 2u);
  }
}

TEST_P(first_contact, connect_runs_beside_threads_that_reap_and_send) {
  constexpr std::uint32_t peers = 6, count = 400;
  auto w = make(peers + 1);
  auto& own = w.stations[0];
  for (std::uint32_t p = 1; p <= peers; ++p) ASSERT_TRUE(w.connect(p, 0));
  ASSERT_TRUE(w.connect(0, 1));
  std::atomic<bool> stop{false}, well{true};
  std::thread reaping([&] {
    while (!stop) {
      own.step();
      own->tick(base::machine_now_ns());
      if (own->arm(true)) static_cast<void>(own->arm(false));
    }
  });
  std::thread others([&] {  // they send before they are connected, and reap
    std::vector<std::uint32_t> next(peers + 1);
    while (!stop)
      for (std::uint32_t p = 1; p <= peers; ++p) {
        w.stations[p].step();
        if (next[p] < count &&
            w.stations[p]->send(peer_id{0}, {.header = std::as_bytes(std::span(&next[p], 1))}) !=
                post::retry)
          ++next[p];
      }
  });
  const auto send_all = [&](std::uint32_t to) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (send_number(*own, to, i) == post::down) well = false;
  };
  std::thread sending([&] { send_all(1); });
  std::vector<std::thread> more;
  for (std::uint32_t p = 2; p <= peers; ++p) {
    if (!w.connect(0, p)) well = false;
    more.emplace_back([&, p] { send_all(p); });
  }
  sending.join();
  for (auto& t : more) t.join();
  stop = true;
  reaping.join();
  others.join();
  ASSERT_TRUE(well);
  ASSERT_TRUE(w.run_until([&] {
    return std::ranges::all_of(w.stations.begin() + 1, w.stations.end(),
                               [](auto& s) { return s.received.size() == count; });
  }));
  for (std::uint32_t p = 1; p <= peers; ++p) {
    EXPECT_TRUE(in_order(w.stations[p], 0));
    EXPECT_TRUE(in_order(own, p));
    EXPECT_LE(std::ranges::count(own.called, peer_id{p}), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(rails, first_contact, ::testing::ValuesIn(kinds_that_reach_others()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace headway::rails::testing
