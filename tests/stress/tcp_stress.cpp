// Goal:   nothing is lost, doubled, reordered or raced while both ends of a TCP rail open their
//         connection at once, and while senders run beside the reaper.
// Method: two drivers on loopback in one process, each with a thread that reaps and one that sends;
//         contents and order are checked. Run under ThreadSanitizer.
// Seed:   fixed in each test.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "rails/interfaces.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/job_table.hpp"

namespace headway::rails::tcp {
namespace {

std::vector<net_interface> loopback() {
  auto all = list_interfaces();
  if (!all) return {};
  std::erase_if(*all, [](const net_interface& i) { return !i.loopback; });
  return *all;
}

struct pair_of_drivers {
  std::unique_ptr<tcp_driver> ends[2];

  explicit pair_of_drivers(const std::string& job) {
    std::vector<std::byte> addresses[2];
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ends[rank] = std::make_unique<tcp_driver>(config{.known = &testing::table_of(job, 2),
                                                       .me = peer_id{rank},
                                                       .secret = {},
                                                       .interfaces = loopback()});
      auto address = ends[rank]->open();
      if (!address) throw std::runtime_error(address.error().text);
      addresses[rank] = *address;
    }
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      if (auto done = ends[rank]->connect(peer_id{1 - rank}, addresses[1 - rank]); !done)
        throw std::runtime_error(done.error().text);
  }
};

constexpr std::uint64_t patience_ns = 30'000'000'000;

/// What one end has received: numbers must come in order.
struct counter {
  std::uint32_t next = 0;
  std::uint64_t landed = 0;
  std::uint64_t sent = 0;
  bool wrong = false;

  void reap(tcp_driver& d) {
    std::array<event, 16> events;
    const auto count = d.reap(events);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& e = events[i];
      if (e.kind == event_kind::received) {
        std::uint32_t number = 0;
        std::memcpy(&number, e.bytes.data(), sizeof number);
        wrong = wrong || number != next++;
        d.release(e);
      } else if (e.kind == event_kind::landed) {
        landed += e.count;
      } else if (e.kind == event_kind::sent) {
        ++sent;
      } else {
        wrong = true;
      }
    }
  }
};

TEST(tcp_stress, both_ends_open_at_once_and_no_message_is_lost_or_overtaken) {
  constexpr int rounds = 200;
  constexpr std::uint32_t count = 20;
  for (int round = 0; round < rounds; ++round) {
    pair_of_drivers w("open-at-once-" + std::to_string(round));
    std::barrier start(2);
    std::atomic<int> ready{0};
    bool wrong[2] = {};
    const auto end = [&](std::uint32_t rank) {
      auto& d = *w.ends[rank];
      counter seen;
      std::uint32_t given = 0;
      start.arrive_and_wait();
      const auto deadline = base::machine_now_ns() + patience_ns;
      while ((given < count || seen.next < count) && base::machine_now_ns() < deadline) {
        if (given < count) {
          const auto said =
              d.send(peer_id{1 - rank}, {.header = std::as_bytes(std::span(&given, 1))});
          if (said == post::down) break;
          if (said != post::retry) ++given;
        }
        seen.reap(d);
      }
      wrong[rank] = seen.wrong || seen.next != count || given != count;
      ready.fetch_add(1);
      while (ready.load() < 2) seen.reap(d);  // the other may still need us
    };
    std::thread other(end, 1);
    end(0);
    other.join();
    ASSERT_FALSE(wrong[0] || wrong[1]) << "round " << round;
    std::thread closing([&] { w.ends[1]->close(); });
    w.ends[0]->close();
    closing.join();
  }
}

TEST(tcp_stress, senders_beside_reapers_in_both_directions_keep_order_and_contents) {
  constexpr std::uint32_t packets = 4000;
  constexpr std::uint32_t zones = 60;
  constexpr std::size_t zone_bytes = 300'000;
  pair_of_drivers w("both-directions");
  std::vector<std::byte> source(zone_bytes);
  std::mt19937 fill(5);
  for (auto& b : source) b = static_cast<std::byte>(fill());
  std::vector<std::vector<std::byte>> targets[2];
  std::vector<ticket> shown[2];
  std::atomic<std::uint64_t> posted[2] = {};
  std::atomic<bool> all_given[2] = {};
  bool wrong[2] = {};
  for (int end = 0; end < 2; ++end) {
    targets[end].assign(zones, std::vector<std::byte>(zone_bytes));
    for (std::uint32_t z = 0; z < zones; ++z)
      shown[end].push_back(w.ends[end]->memory()->expose({.bytes = targets[end][z]}).value());
  }
  const auto sender = [&](std::uint32_t rank) {
    std::mt19937 random(rank);
    std::uint32_t zone = 0;
    const auto taken = [&](const auto& offer) {
      post said;
      while ((said = offer()) == post::retry) std::this_thread::yield();
      if (said == post::posted) posted[rank].fetch_add(1);
      return said != post::down;
    };
    for (std::uint32_t i = 0; i < packets; ++i) {
      const auto size = random() % (i % 40 == 0 ? 60'000 : 200);
      const packet p{.header = std::as_bytes(std::span(&i, 1)),
                     .payload = std::span(source).first(size)};
      if (!taken([&] { return w.ends[rank]->send(peer_id{1 - rank}, p); })) return;
      if (zone < zones && i % (packets / zones) == 0) {
        const auto& to = shown[1 - rank][zone++];
        auto* memory = w.ends[rank]->memory();
        if (!taken([&] { return memory->put(peer_id{1 - rank}, {.exposed = to}, source, 0); }))
          return;
      }
    }
    all_given[rank].store(true);
  };
  std::atomic<int> through{0};
  const auto reaper = [&](std::uint32_t rank) {
    counter seen;
    const auto enough = [&] {
      return seen.next == packets && seen.landed == std::uint64_t{zones} * zone_bytes &&
             all_given[rank].load() && seen.sent == posted[rank].load();
    };
    const auto deadline = base::machine_now_ns() + 4 * patience_ns;
    while (!enough() && !seen.wrong && base::machine_now_ns() < deadline) {
      seen.reap(*w.ends[rank]);
      if (w.ends[rank]->arm(true)) std::this_thread::yield();
      (void)w.ends[rank]->arm(false);
      w.ends[rank]->tick(base::machine_now_ns());
    }
    wrong[rank] = !enough() || seen.wrong;
    through.fetch_add(1);
    while (through.load() < 2) seen.reap(*w.ends[rank]);
  };
  {
    std::jthread a(sender, 0), b(sender, 1), c(reaper, 0), d(reaper, 1);
  }
  EXPECT_FALSE(wrong[0]);
  EXPECT_FALSE(wrong[1]);
  for (int end = 0; end < 2; ++end)
    for (const auto& t : targets[end]) ASSERT_EQ(t, source);
  std::jthread closing([&] { w.ends[1]->close(); });
  w.ends[0]->close();
}

TEST(tcp_stress, exposures_may_be_withdrawn_while_pieces_come_in) {
  pair_of_drivers w("withdraw");
  std::vector<std::byte> source(4'000'000, std::byte{7});
  std::atomic<bool> stop{false};
  std::uint64_t posted = 0;
  std::atomic<std::uint64_t> sent{0};
  std::jthread receiver([&] {
    counter seen;
    while (!stop.load()) seen.reap(*w.ends[1]);
  });
  std::jthread sender_reaps([&] {
    counter seen;
    while (!stop.load()) {
      seen.reap(*w.ends[0]);
      sent.store(seen.sent);
    }
  });
  for (std::uint32_t round = 1; round <= 60; ++round) {
    std::vector<std::byte> target(source.size());
    const ticket shown = w.ends[1]->memory()->expose({.bytes = target}).value();
    post said;
    while ((said = w.ends[0]->memory()->put(peer_id{1}, {.exposed = shown}, source, 0)) ==
           post::retry)
      std::this_thread::yield();
    ASSERT_NE(said, post::down);
    if (said == post::posted) ++posted;
    std::this_thread::sleep_for(std::chrono::microseconds(round * 20));
    w.ends[1]->memory()->withdraw(shown);  // `target` may go now
  }
  const auto deadline = base::machine_now_ns() + patience_ns;
  while (sent.load() < posted && base::machine_now_ns() < deadline) std::this_thread::yield();
  EXPECT_EQ(sent.load(), posted);
  stop.store(true);
}

}  // namespace
}  // namespace headway::rails::tcp
