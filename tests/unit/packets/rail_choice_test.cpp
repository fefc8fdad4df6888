// Goal:   each packet goes over the rail on which it ends first: over two rails it is never later
//         than a tenth above the better of them alone, and one packet.
// Method: simulated rails of a latency and a rate, each with a queue that refuses more than it
//         holds; packets of any size at any time. The peer is the test itself, and acknowledges
//         what comes. When a rail alone would have brought each packet is calculated. The latency
//         that the drivers state points to the wrong rail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "packets/frames.hpp"
#include "packets/peers.hpp"
#include "tests/simulation/bare_ends.hpp"
#include "topology/machine.hpp"

namespace headway::packets::testing::rail_choice_tests {
namespace {

constexpr rails::peer_id other{1};
constexpr rails::peer_id third{2};
constexpr std::size_t bytes_max = 64 * 1024;

struct speed {
  std::uint64_t latency_ns;
  std::uint64_t bytes_per_us;

  [[nodiscard]] std::uint64_t time_of(std::size_t bytes) const {
    return (bytes + simulation::network::headers_bytes) * 1000 / bytes_per_us;
  }
};

/// What the peer does with the packets of all rails: it brings them in the order of their frames.
struct receiving_end {
  std::set<std::uint32_t> frames;      // that have come, by sequence
  std::vector<std::uint64_t> came_ns;  // by packet

  void take(const frame_head& head, std::span<const std::byte> contents, std::uint64_t now_ns) {
    frames.insert(head.sequence);
    EXPECT_TRUE(each_packet(contents, head.packets, [&](std::span<const std::byte> packet) {
      std::uint32_t number = 0;
      std::memcpy(&number, packet.data() + sizeof(stream_head), sizeof number);
      if (came_ns.size() <= number) came_ns.resize(number + 1);
      came_ns[number] = now_ns;
    }));
  }
  /// How many frames are here without a gap.
  [[nodiscard]] std::uint32_t due() {
    while (frames.contains(due_)) ++due_;
    return due_;
  }

 private:
  std::uint32_t due_ = 0;
};

class counting_rail final : public simulation::driver {
 public:
  using driver::driver;
  rails::post send(rails::peer_id to, const rails::packet& what) noexcept override {
    const auto said = driver::send(to, what);
    if (said == rails::post::done) sent_bytes += what.header.size() + what.payload.size();
    return said;
  }
  std::size_t sent_bytes = 0;
};

/// The rails are known as they are; `third` is reached over the first alone.
class measured_rails final : public router {
 public:
  base::result<> route(peers& all, rails::peer_id id) override {
    std::vector<std::optional<std::vector<std::byte>>> addresses(known.size());
    const auto reaching = id == third ? 1 : known.size();
    for (std::size_t i = 0; i < reaching; ++i) addresses[i].emplace(1);
    const std::vector<std::size_t> turns{0, 1};
    if (const auto done = all.connect(id, addresses, turns); !done)
      return std::unexpected(done.error());
    for (std::size_t i = 0; i < reaching; ++i) all.know(id, i, known[i]);
    return {};
  }
  [[nodiscard]] bool end_is_seen(rails::peer_id) const noexcept override { return false; }
  std::vector<sampling::profile> known;
};

struct nothing_above final : receiver {
  void arrived(peer&, std::span<const std::byte>) noexcept override {}
  void lost(peer&) noexcept override { ++losses; }
  int losses = 0;
};

struct numbered : send_item {
  numbered(std::uint32_t number, std::span<const std::byte> bytes) {
    const stream_head own{.kind = 1};
    std::memcpy(head.data(), &own, sizeof own);
    std::memcpy(head.data() + sizeof own, &number, sizeof number);
    head_bytes = sizeof own + sizeof number;
    payload = bytes;
    sent = [](send_item&, bool) noexcept {};
  }
};

/// Two rails from one process to two others.
struct world {
  world(const speed (&how)[2], std::size_t queue_bytes_max)
      : ends(2, plans_of(how, queue_bytes_max)) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto made = ends.make_rail<counting_rail>(i);
      rails[i] = made.get();
      all.add_rail(std::move(made));
      routes.known.push_back(sampling::profile::guessed(
          static_cast<double>(how[i].latency_ns), static_cast<double>(how[i].bytes_per_us) / 1000));
    }
    all.start(above);
    // No rail carries data before both have answered.
    numbered first(0, {});
    static_cast<void>(all.at(other).post(first));
    run_for(100'000'000);
    there.came_ns.clear();
  }
  ~world() {
    run_for(500'000'000);  // all is acknowledged
    ends.net.run_out();
    all.stop();
  }
  static std::vector<simulation::rail_plan> plans_of(const speed (&how)[2],
                                                     std::size_t queue_bytes_max) {
    std::vector<simulation::rail_plan> plans;
    const auto& slower = how[0].bytes_per_us < how[1].bytes_per_us ? how[0] : how[1];
    for (const auto& each : how)
      plans.push_back({.latency_ns = each.latency_ns,
                       .jitter_ns = 0,
                       .bytes_per_us = each.bytes_per_us,
                       .flight_bytes_max = SIZE_MAX,
                       .queue_bytes_max = queue_bytes_max,
                       .severable = true,
                       .limits = {.name = "simulated",
                                  .header_bytes_max = 64,
                                  .eager_bytes_max = bytes_max + 4096,
                                  .inline_bytes_max = bytes_max + 4096,
                                  .latency_ns = &each == &slower ? 10'000u : 30'000u}});
    return plans;
  }
  [[nodiscard]] std::uint64_t now_ns() const { return ends.net.now_ns(); }
  /// The peers take what has come, and `other` acknowledges it.
  void answer() {
    for (std::uint32_t rail = 0; rail < 2; ++rail) {
      ends.take(static_cast<std::uint32_t>(third), rail);
      for (const auto& packet : ends.take(static_cast<std::uint32_t>(other), rail)) {
        frame_head head;
        std::memcpy(&head, packet.data(), sizeof head);
        if (head.kind == frame_kind::ack) continue;
        if (head.kind == frame_kind::data)
          there.take(head, std::span(packet).subspan(sizeof head), now_ns());
        const frame_head ack{.acknowledged = there.due(), .kind = frame_kind::ack};
        ends.send(static_cast<std::uint32_t>(other), std::as_bytes(std::span(&ack, 1)), rail);
      }
    }
  }
  void step() {
    answer();
    for (int i = 0; i < 40; ++i) engine->poll();
    for (std::uint32_t rail = 0; rail < 2; ++rail) {
      ends.net.wake(0, rails[rail]->due_ns());
      for (const auto peer : {1u, 2u}) ends.net.wake(peer, ends.at(peer, rail).due_ns());
    }
  }
  void run_for(std::uint64_t ns) {
    const auto until_ns = now_ns() + ns;
    ends.net.wake(ends.net.processes(), until_ns);
    for (step(); now_ns() < until_ns; step()) static_cast<void>(ends.net.next());
  }

  simulation::bare_ends ends;
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(
          *machine, {.points = progress::polling::off, .waits = progress::waiting_policy::busy}, 1,
          ends.net.clock())
          .value();
  receiving_end there;
  nothing_above above;
  measured_rails routes;
  peers all{*engine, headway::rails::peer_id{0}, routes, settings{.processes = 3}};
  counting_rail* rails[2] = {};
  std::vector<std::byte> memory = std::vector<std::byte>(bytes_max);
};

std::uint64_t between(std::mt19937_64& random, double low, double high) {
  return static_cast<std::uint64_t>(
      std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random)));
}

class rail_choice : public ::testing::TestWithParam<std::uint64_t> {
 protected:
};

constexpr std::uint64_t fast_bytes_per_us = 125;  // 1 Gbit/s

TEST_P(rail_choice, is_never_later_than_the_better_rail_alone) {
  std::mt19937_64 random(GetParam());
  speed how[2] = {{.latency_ns = between(random, 2'000, 50'000), .bytes_per_us = fast_bytes_per_us},
                  {.latency_ns = between(random, 2'000, 50'000),
                   .bytes_per_us = between(random, 2.5, fast_bytes_per_us)}};
  if (random() % 2 != 0) std::swap(how[0], how[1]);
  // Either the rails take whatever comes, or they make packets wait.
  world w(how, random() % 2 != 0 ? 4 << 20 : 32 << 10);
  std::deque<numbered> items;
  std::uint64_t alone_free_ns[2] = {};
  struct post {
    std::uint64_t at_ns;
    std::uint64_t alone_ns[2];  // it would have come so, over one rail alone
  };
  std::vector<post> posts;
  for (std::uint32_t i = 0; i < 300; ++i) {
    // Bursts, and times in between in which the queues empty.
    if (random() % 3 != 0) w.run_for(between(random, 1'000, 1'000'000));
    const auto bytes = between(random, 8, bytes_max);
    auto& item = items.emplace_back(i, std::span(w.memory).first(bytes));
    ASSERT_NE(w.all.at(other).post(item), posted::down);
    auto& p = posts.emplace_back(post{.at_ns = w.now_ns(), .alone_ns = {}});
    const auto whole = sizeof(frame_head) + room_in_frame(item);
    for (int r = 0; r < 2; ++r) {
      alone_free_ns[r] = std::max(alone_free_ns[r], p.at_ns) + how[r].time_of(whole);
      p.alone_ns[r] = alone_free_ns[r] + how[r].latency_ns;
    }
  }
  w.run_for(1'000'000'000);
  ASSERT_EQ(w.there.came_ns.size(), posts.size());
  constexpr std::uint64_t one_packet_ns = bytes_max * 1000 / fast_bytes_per_us;
  std::uint64_t latest_ns = 0;  // packets are delivered in their order
  for (std::size_t i = 0; i < posts.size(); ++i) {
    const auto& p = posts[i];
    latest_ns = std::max(latest_ns, w.there.came_ns[i]);
    const auto best_ns = std::min(p.alone_ns[0], p.alone_ns[1]) - p.at_ns;
    ASSERT_LE(latest_ns - p.at_ns, best_ns + best_ns / 10 + one_packet_ns) << "packet " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, rail_choice, ::testing::Range<std::uint64_t>(1, 201));

constexpr speed slow_and_fast[2] = {{.latency_ns = 20'000, .bytes_per_us = 2},
                                    {.latency_ns = 20'000, .bytes_per_us = fast_bytes_per_us}};

TEST(rail_choice, goes_by_what_was_measured_and_not_by_what_the_driver_states) {
  world w(slow_and_fast, 4 << 20);
  const auto before = w.rails[0]->sent_bytes;
  std::deque<numbered> items;
  for (std::uint32_t i = 0; i < 50; ++i) {
    static_cast<void>(w.all.at(other).post(items.emplace_back(i, std::span(w.memory).first(8192))));
    w.run_for(100'000);
  }
  EXPECT_LT(w.rails[0]->sent_bytes - before, 8192u) << "nothing but words went over the slow one";
}

TEST(rail_choice, waits_for_the_rail_that_is_busy_where_that_ends_sooner) {
  world w(slow_and_fast, 16 << 10);
  const auto before = w.rails[0]->sent_bytes;
  std::deque<numbered> items;
  for (std::uint32_t i = 0; i < 6; ++i)
    static_cast<void>(w.all.at(other).post(items.emplace_back(i, std::span(w.memory).first(8192))));
  EXPECT_LT(w.there.came_ns.size(), 6u) << "some of them wait";
  w.run_for(1'000'000);
  EXPECT_EQ(w.there.came_ns.size(), 6u);
  EXPECT_LT(w.rails[0]->sent_bytes - before, 8192u);
}

TEST(rail_choice, counts_what_other_peers_have_put_into_a_rail) {
  const speed alike[2] = {{.latency_ns = 20'000, .bytes_per_us = fast_bytes_per_us},
                          {.latency_ns = 20'000, .bytes_per_us = fast_bytes_per_us - 14}};
  world w(alike, 4 << 20);
  std::deque<numbered> items;
  const std::size_t before[2] = {w.rails[0]->sent_bytes, w.rails[1]->sent_bytes};
  for (std::uint32_t i = 0; i < 10; ++i)
    static_cast<void>(
        w.all.at(third).post(items.emplace_back(i, std::span(w.memory).first(bytes_max))));
  ASSERT_GT(w.rails[0]->sent_bytes - before[0], 10 * bytes_max);
  const auto others = w.rails[0]->sent_bytes;
  static_cast<void>(w.all.at(other).post(items.emplace_back(0u, std::span(w.memory).first(4096))));
  EXPECT_EQ(w.rails[0]->sent_bytes, others);
  EXPECT_GT(w.rails[1]->sent_bytes - before[1], 4096u);
}

}  // namespace
}  // namespace headway::packets::testing::rail_choice_tests
