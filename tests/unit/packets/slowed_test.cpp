// Goal:   a large message corrects itself while it runs: what a rail that has turned slow does not
//         do in time goes to the others.
// Method: rails in memory that deliver at a rate; in the middle of a message one is slowed to a
//         tenth. Bytes are compared, not times: without correction it would carry half of the rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>

#include "base/clock.hpp"
#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "tests/silent_driver.hpp"

namespace headway::packets {
namespace {

/// One rail between two processes, as both of its ends see it.
struct wire {
  struct parcel {
    std::vector<std::byte> bytes;
    std::span<const std::byte> payload;  // of a piece: it stays where it is
    std::uint32_t zone = 0;
    std::uint64_t cookie = 0;
    double due_ns = 0;
  };
  struct end {
    std::deque<parcel> coming;
    std::deque<rails::event> events;
    std::map<std::uint32_t, std::span<std::byte>> zones;
    double free_at_ns = 0;
  };
  end ends[2];
  double bytes_per_ns = 0.4;
  std::uint64_t carried = 0;  // bytes of pieces
};

/// Only the test's thread comes here.
class paced final : public rails::testing::silent_driver {
 public:
  paced(wire& w, std::uint32_t self) : wire_(w), mine_(w.ends[self]), other_(w.ends[1 - self]) {}

  rails::limits query() const noexcept override {
    return {.name = "paced",
            .header_bytes_max = 64,
            .eager_bytes_max = 4096,
            .latency_ns = 1000,
            .severable = true};
  }
  rails::post send(rails::peer_id, const rails::packet& what) noexcept override {
    wire::parcel p;
    p.bytes.assign(what.header.begin(), what.header.end());
    if (what.landing == rails::landing_id::none) {
      p.bytes.insert(p.bytes.end(), what.payload.begin(), what.payload.end());
      other_.coming.push_front(std::move(p));
      std::rotate(other_.coming.begin(), other_.coming.begin() + 1, first_piece());
      return rails::post::done;
    }
    p.payload = what.payload;
    p.zone = static_cast<std::uint32_t>(what.landing);
    p.cookie = what.cookie;
    const auto now = static_cast<double>(base::now_ns());
    other_.free_at_ns = std::max(other_.free_at_ns, now) +
                        static_cast<double>(what.payload.size()) / wire_.bytes_per_ns;
    p.due_ns = other_.free_at_ns;
    wire_.carried += what.payload.size();
    other_.coming.push_back(std::move(p));
    return rails::post::posted;
  }
  bool land(rails::peer_id, rails::landing_id id, std::span<std::byte> target) noexcept override {
    mine_.zones[static_cast<std::uint32_t>(id)] = target;
    return true;
  }
  void unland(rails::landing_id id) noexcept override {
    mine_.zones.erase(static_cast<std::uint32_t>(id));
  }
  std::size_t reap(std::span<rails::event> out) noexcept override {
    std::size_t count = 0;
    held_.clear();
    for (; count < out.size() && !mine_.events.empty(); mine_.events.pop_front())
      out[count++] = mine_.events.front();
    while (count < out.size() && !mine_.coming.empty() &&
           mine_.coming.front().due_ns <= static_cast<double>(base::now_ns())) {
      held_.push_back(std::move(mine_.coming.front()));
      mine_.coming.pop_front();
      const auto& p = held_.back();
      rails::event e{.peer = peer(), .bytes = p.bytes};
      if (p.zone != 0) {
        other_.events.push_back(
            {.kind = rails::event_kind::sent, .peer = other_peer(), .cookie = p.cookie});
        const auto zone = mine_.zones.find(p.zone);
        if (zone == mine_.zones.end()) continue;
        std::memcpy(zone->second.data(), p.payload.data(), p.payload.size());
        e = {.kind = rails::event_kind::landed,
             .peer = peer(),
             .landing = static_cast<rails::landing_id>(p.zone),
             .count = p.payload.size()};
      }
      out[count++] = e;
    }
    return count;
  }
  /// A slow rail is no silent one: its peer's kernel is heard.
  std::uint64_t heard_ns(rails::peer_id) noexcept override { return base::now_ns(); }

 private:
  [[nodiscard]] rails::peer_id peer() const noexcept {
    return rails::peer_id{&mine_ == &wire_.ends[0] ? 1u : 0u};
  }
  [[nodiscard]] rails::peer_id other_peer() const noexcept {
    return rails::peer_id{&mine_ == &wire_.ends[0] ? 0u : 1u};
  }
  /// Packets pass pieces, as between the segments of a large payload.
  std::deque<wire::parcel>::iterator first_piece() {
    return std::find_if(other_.coming.begin() + 1, other_.coming.end(),
                        [](const auto& p) { return p.zone != 0; });
  }

  wire& wire_;
  wire::end& mine_;
  wire::end& other_;
  std::deque<wire::parcel> held_;
};

struct process {
  std::unique_ptr<progress::engine> engine;
  std::unique_ptr<packets::peers> peers;
  std::unique_ptr<messages::exchange> messages;
  messages::context* context = nullptr;
};

/// Tunables are read once.
const bool environment_set = setenv("HEADWAY_CUT_OFF_MS", "1500", 1) == 0;

TEST(slowed_rail, carries_a_tenth_of_the_rest_and_not_half_of_it) {
  ASSERT_TRUE(environment_set);
  const auto machine = topology::machine::read().value();
  wire wires[2];
  process all[2];
  const std::vector<std::optional<std::vector<std::byte>>> addresses(2, std::vector<std::byte>(1));
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto& one = all[i];
    one.engine = progress::engine::start(*machine, {.points = progress::polling::off}).value();
    one.peers = std::make_unique<packets::peers>(*one.engine, 2, rails::peer_id{i});
    for (auto& w : wires) one.peers->add_rail(std::make_unique<paced>(w, i));
    ASSERT_TRUE(one.peers->connect(rails::peer_id{1 - i}, addresses));
    one.messages = std::make_unique<messages::exchange>(*one.peers, *one.engine);
    one.context = one.messages->open_context(3, static_cast<int>(i), {0, 1});
  }
  constexpr std::size_t bytes = 64 << 20;
  std::vector<std::byte> sent(bytes), received(bytes);
  for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 4093);
  messages::request send, receive;
  const auto poll = [&] {
    for (auto& one : all) one.engine->poll();
  };
  const auto until = base::now_ns() + 60'000'000'000;
  all[1].messages->receive(*all[1].context, receive, received, 0, 7);
  all[0].messages->send(*all[0].context, send, sent, 1, 7);
  while (wires[0].carried + wires[1].carried < bytes / 2 && base::now_ns() < until) poll();
  const auto before = wires[1].carried;
  EXPECT_GT(before, bytes / 8) << "both carried their part until then";
  wires[1].bytes_per_ns /= 10;
  while ((!send.test() || !receive.test()) && base::now_ns() < until) poll();
  ASSERT_TRUE(send.test() && receive.test());
  EXPECT_TRUE(sent == received);
  EXPECT_LT(wires[1].carried - before, bytes / 8) << "half of what it would have been";
  const auto rest = base::now_ns() + 20'000'000;
  while (base::now_ns() < rest) poll();
  for (auto& one : all) one.messages->close_context(one.context);
}

}  // namespace
}  // namespace headway::packets
