// Goal:   each packet goes over the rail on which it ends first: over two rails it is never later
//         than a tenth above the better of them alone, and one packet.
// Method: rails of a latency and a rate on a virtual clock, each with a queue that refuses more
//         than it holds; packets of any size at any time. When a rail alone would have brought each
//         packet is calculated. The latency that the drivers state points to the wrong rail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "packets/frames.hpp"
#include "packets/peers.hpp"
#include "rails/health.hpp"
#include "tests/silent_driver.hpp"
#include "topology/machine.hpp"

namespace headway::packets::testing::rail_choice_tests {
namespace {

constexpr rails::peer_id other{1};
constexpr rails::peer_id third{2};
constexpr std::size_t bytes_max = 64 * 1024;

struct speed {
  double latency_ns;
  double ns_per_byte;
};

/// The other end of all rails: brings packets in the order of their frames.
struct receiving_end {
  std::vector<double> frame_ns;  // by sequence: when it came, 0: not yet
  std::vector<double> came_ns;   // by packet

  void take(const frame_head& head, std::span<const std::byte> contents, double at_ns) {
    if (frame_ns.size() <= head.sequence) frame_ns.resize(head.sequence + 1);
    frame_ns[head.sequence] = at_ns;
    EXPECT_TRUE(each_packet(contents, head.packets, [&](std::span<const std::byte> packet) {
      std::uint32_t number = 0;
      std::memcpy(&number, packet.data() + sizeof(stream_head), sizeof number);
      if (came_ns.size() <= number) came_ns.resize(number + 1);
      came_ns[number] = at_ns;
    }));
  }
  /// How many frames are here without a gap by then.
  [[nodiscard]] std::uint32_t due(double by_ns) const {
    std::uint32_t due = 0;
    while (due < frame_ns.size() && frame_ns[due] != 0 && frame_ns[due] <= by_ns) ++due;
    return due;
  }
};

/// A rail of a rate, whose other end answers questions and acknowledges.
class wire final : public rails::testing::silent_driver, public rails::health {
 public:
  wire(const speed& how, std::size_t queue_bytes, std::uint32_t stated_ns, base::clock clock,
       receiving_end& there)
      : how_(how), queue_bytes_(queue_bytes), stated_ns_(stated_ns), clock_(clock), there_(there) {}

  rails::limits query() const noexcept override {
    return {.name = "wire",
            .header_bytes_max = 64,
            .eager_bytes_max = bytes_max + 4096,
            .inline_bytes_max = bytes_max + 4096,
            .latency_ns = stated_ns_};
  }
  rails::health* health() noexcept override { return this; }
  void sever(rails::peer_id) noexcept override {}
  void revive(rails::peer_id) noexcept override {}
  std::uint64_t last_activity_ns(rails::peer_id) noexcept override { return clock_.now_ns(); }

  rails::post send(rails::peer_id to, const rails::packet& what) noexcept override {
    const auto now_ns = static_cast<double>(clock_.now_ns());
    const auto bytes = what.header.size() + what.payload.size();
    if ((free_ns_ - now_ns) / how_.ns_per_byte > static_cast<double>(queue_bytes_)) {
      refused = true;
      return rails::post::retry;
    }
    free_ns_ = std::max(free_ns_, now_ns) + static_cast<double>(bytes) * how_.ns_per_byte;
    sent_bytes += bytes;
    if (to != other) return rails::post::done;
    frame_head head;
    std::memcpy(&head, what.header.data(), sizeof head);
    const double at_ns = free_ns_ + how_.latency_ns;
    if (head.kind == frame_kind::data) there_.take(head, what.payload, at_ns);
    if (head.kind == frame_kind::ack) return rails::post::done;
    answers_.push_back(at_ns + how_.latency_ns);
    return rails::post::done;
  }
  std::size_t reap(std::span<rails::event> out) noexcept override {
    if (answers_.empty() || answers_.front() > static_cast<double>(clock_.now_ns())) return 0;
    answer_ = {.acknowledged = there_.due(answers_.front() - how_.latency_ns),
               .kind = frame_kind::ack};
    answers_.pop_front();
    out[0] = {.peer = other, .bytes = std::as_bytes(std::span(&answer_, 1))};
    return 1;
  }
  /// When something happens on it next.
  [[nodiscard]] double next_ns() const {
    double at_ns = answers_.empty() ? HUGE_VAL : answers_.front();
    if (refused)
      at_ns = std::min(at_ns, free_ns_ - static_cast<double>(queue_bytes_) * how_.ns_per_byte);
    return at_ns;
  }
  bool refused = false;
  std::size_t sent_bytes = 0;

 private:
  const speed how_;
  const std::size_t queue_bytes_;
  const std::uint32_t stated_ns_;
  const base::clock clock_;
  receiving_end& there_;
  double free_ns_ = 0;
  std::deque<double> answers_;  // when they come back
  frame_head answer_;
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

/// Two rails from one process.
struct world {
  world(const speed (&how)[2], std::size_t queue_bytes)
      : machine(topology::machine::read().value()) {
    engine =
        progress::engine::start(
            *machine, {.points = progress::polling::off, .waits = progress::waiting_policy::busy},
            1, base::clock(now))
            .value();
    all = std::make_unique<peers>(*engine, rails::peer_id{0}, routes, settings{.processes = 3});
    // The slower rail states the lower latency.
    const bool first_is_fast = how[0].ns_per_byte < how[1].ns_per_byte;
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t stated_ns = (i == 0) == first_is_fast ? 30'000 : 10'000;
      auto made = std::make_unique<wire>(how[i], queue_bytes, stated_ns, base::clock(now), there);
      rails[i] = made.get();
      all->add_rail(std::move(made));
      routes.known.push_back(sampling::profile::guessed(how[i].latency_ns, 1 / how[i].ns_per_byte));
    }
    all->start(above);
    // No rail carries data before both have answered.
    numbered first(0, {});
    static_cast<void>(all->at(other).post(first));
    run_until(now_ns() + 1e8);
    there.came_ns.clear();
  }
  ~world() {
    for (int i = 0; i < 50; ++i) run_until(now_ns() + 1e7);  // all is acknowledged
    all->stop();
  }
  [[nodiscard]] double now_ns() const {
    return static_cast<double>(now.load(std::memory_order_relaxed));
  }
  void poll() {
    for (auto* r : rails) r->refused = false;
    for (int i = 0; i < 40; ++i) engine->poll();
  }
  void run_until(double at_ns) {
    poll();
    while (true) {
      const double next =
          std::max(now_ns() + 1, std::min(rails[0]->next_ns(), rails[1]->next_ns()));
      now.store(static_cast<std::uint64_t>(std::ceil(std::min(next, at_ns))),
                std::memory_order_relaxed);
      poll();
      if (next >= at_ns) return;
    }
  }
  base::atomic<std::uint64_t> now{1'000'000'000};
  std::unique_ptr<topology::machine> machine;
  std::unique_ptr<progress::engine> engine;
  receiving_end there;
  nothing_above above;
  measured_rails routes;
  std::unique_ptr<peers> all;
  wire* rails[2] = {};
  std::vector<std::byte> memory = std::vector<std::byte>(bytes_max);
};

double between(std::mt19937_64& random, double low, double high) {
  return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
}

class rail_choice : public ::testing::TestWithParam<std::uint64_t> {
 protected:
};

TEST_P(rail_choice, is_never_later_than_the_better_rail_alone) {
  std::mt19937_64 random(GetParam());
  constexpr double fast_ns_per_byte = 8;  // 1 Gbit/s
  speed how[2] = {{.latency_ns = between(random, 2'000, 50'000), .ns_per_byte = fast_ns_per_byte},
                  {.latency_ns = between(random, 2'000, 50'000),
                   .ns_per_byte = fast_ns_per_byte * between(random, 1, 50)}};
  if (random() % 2 != 0) std::swap(how[0], how[1]);
  // Either the rails take whatever comes, or they make packets wait.
  world w(how, random() % 2 != 0 ? 4 << 20 : 32 << 10);
  std::deque<numbered> items;
  double alone_free_ns[2] = {};
  struct post {
    double at_ns;
    double alone_ns[2];  // it would have come so, over one rail alone
  };
  std::vector<post> posts;
  for (std::uint32_t i = 0; i < 300; ++i) {
    // Bursts, and times in between in which the queues empty.
    if (random() % 3 != 0) w.run_until(w.now_ns() + between(random, 1'000, 1'000'000));
    const auto bytes = static_cast<std::size_t>(between(random, 8, bytes_max));
    auto& item = items.emplace_back(i, std::span(w.memory).first(bytes));
    ASSERT_NE(w.all->at(other).post(item), posted::down);
    auto& p = posts.emplace_back(post{.at_ns = w.now_ns(), .alone_ns = {}});
    const auto whole = static_cast<double>(sizeof(frame_head) + room_in_frame(item));
    for (int r = 0; r < 2; ++r) {
      alone_free_ns[r] = std::max(alone_free_ns[r], p.at_ns) + whole * how[r].ns_per_byte;
      p.alone_ns[r] = alone_free_ns[r] + how[r].latency_ns;
    }
  }
  w.run_until(w.now_ns() + 1e9);
  ASSERT_EQ(w.there.came_ns.size(), posts.size());
  constexpr double one_packet_ns = bytes_max * fast_ns_per_byte;
  double latest_ns = 0;  // packets are delivered in their order
  for (std::size_t i = 0; i < posts.size(); ++i) {
    const auto& p = posts[i];
    latest_ns = std::max(latest_ns, w.there.came_ns[i]);
    const double best_ns = std::min(p.alone_ns[0], p.alone_ns[1]) - p.at_ns;
    ASSERT_LE(latest_ns - p.at_ns, 1.1 * best_ns + one_packet_ns) << "packet " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, rail_choice, ::testing::Range<std::uint64_t>(1, 201));

constexpr speed slow_and_fast[2] = {{.latency_ns = 20'000, .ns_per_byte = 400},
                                    {.latency_ns = 20'000, .ns_per_byte = 8}};

TEST(rail_choice, goes_by_what_was_measured_and_not_by_what_the_driver_states) {
  world w(slow_and_fast, 4 << 20);
  const auto before = w.rails[0]->sent_bytes;
  std::deque<numbered> items;
  for (std::uint32_t i = 0; i < 50; ++i) {
    static_cast<void>(
        w.all->at(other).post(items.emplace_back(i, std::span(w.memory).first(8192))));
    w.run_until(w.now_ns() + 100'000);
  }
  EXPECT_LT(w.rails[0]->sent_bytes - before, 8192u) << "nothing but words went over the slow one";
}

TEST(rail_choice, waits_for_the_rail_that_is_busy_where_that_ends_sooner) {
  world w(slow_and_fast, 16 << 10);
  const auto before = w.rails[0]->sent_bytes;
  std::deque<numbered> items;
  for (std::uint32_t i = 0; i < 6; ++i)
    static_cast<void>(
        w.all->at(other).post(items.emplace_back(i, std::span(w.memory).first(8192))));
  EXPECT_LT(w.there.came_ns.size(), 6u) << "some of them wait";
  w.run_until(w.now_ns() + 1e6);
  EXPECT_EQ(w.there.came_ns.size(), 6u);
  EXPECT_LT(w.rails[0]->sent_bytes - before, 8192u);
}

TEST(rail_choice, counts_what_other_peers_have_put_into_a_rail) {
  const speed alike[2] = {{.latency_ns = 20'000, .ns_per_byte = 8},
                          {.latency_ns = 20'000, .ns_per_byte = 9}};
  world w(alike, 4 << 20);
  std::deque<numbered> items;
  const std::size_t before[2] = {w.rails[0]->sent_bytes, w.rails[1]->sent_bytes};
  for (std::uint32_t i = 0; i < 10; ++i)
    static_cast<void>(
        w.all->at(third).post(items.emplace_back(i, std::span(w.memory).first(bytes_max))));
  ASSERT_GT(w.rails[0]->sent_bytes - before[0], 10 * bytes_max);
  const auto others = w.rails[0]->sent_bytes;
  static_cast<void>(w.all->at(other).post(items.emplace_back(0u, std::span(w.memory).first(4096))));
  EXPECT_EQ(w.rails[0]->sent_bytes, others);
  EXPECT_GT(w.rails[1]->sent_bytes - before[1], 4096u);
}

}  // namespace
}  // namespace headway::packets::testing::rail_choice_tests
