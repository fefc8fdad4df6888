// What several rails of one peer may deliver: frames of any bytes, controls and pieces with any
// numbers, acknowledgements, rails that are lost and come back, while messages of every size are
// under way. No field may be trusted.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "messages/exchange.hpp"
#include "messages/wire.hpp"
#include "packets/control.hpp"
#include "packets/frames.hpp"
#include "packets/peers.hpp"
#include "tests/fuzz/bytes_of_input.hpp"
#include "tests/fuzz/this_machine.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"

namespace {

using namespace headway;

constexpr std::size_t large = 100'000;
constexpr std::size_t rail_count = 2;
constexpr rails::peer_id peer{1};

/// A rail that answers what it is given as the fuzzer says, which also cuts it and restores it.
class mouth final : public simulation::driver {
 public:
  using driver::driver;
  base::result<rails::ticket> expose(const rails::exposure& what) noexcept override {
    if (refuses_) return base::failed(base::fault_kind::no_memory, "no");
    return driver::expose(what);
  }
  void sever(rails::peer_id) noexcept override {}
  void revive(rails::peer_id) noexcept override {}

  void say(rails::post how) {
    refuses_ = how == rails::post::retry;
    answer(how);
  }
  void tell(rails::event_kind kind, std::uint64_t cookie = 0, std::uint64_t count = 0) {
    report({.kind = kind, .peer = peer, .count = count, .cookie = cookie});
  }
  /// As the peer knows it; empty: fewer are exposed.
  [[nodiscard]] rails::ticket shown(std::size_t which) const {
    const auto all = exposed();
    return which < all.size() ? all[which] : rails::ticket{};
  }

 private:
  bool refuses_ = false;
};

/// A number that a table may have given, or not.
[[nodiscard]] std::uint32_t some_number(bytes_of_input& input) noexcept {
  const auto one = input.byte();
  return (one & 0x80u) != 0 ? one : 1u << 20 | one;
}

[[nodiscard]] std::uint64_t some_size(bytes_of_input& input) noexcept {
  constexpr std::array<std::uint64_t, 8> some{
      0, 1, 100, 4096, large, large + 1, UINT64_MAX / 2, UINT64_MAX};
  return some[input.byte() % some.size()];
}

template <class Head>
[[nodiscard]] std::vector<std::byte> packet_of(const Head& head,
                                               std::span<const std::byte> payload = {}) {
  std::vector<std::byte> all(sizeof head + payload.size());
  std::memcpy(all.data(), &head, sizeof head);
  std::ranges::copy(payload, all.begin() + sizeof head);
  return all;
}

/// One packet as the contents of a frame.
[[nodiscard]] std::vector<std::byte> marked(std::span<const std::byte> packet) {
  const packets::packet_mark mark{.bytes = static_cast<std::uint32_t>(packet.size())};
  auto all = packet_of(mark, packet);
  all.resize(packets::padded(all.size()));
  return all;
}

[[nodiscard]] std::vector<std::byte> some_control(bytes_of_input& input, const mouth& on) {
  packets::control c{.what = static_cast<packets::control_kind>(input.byte()),
                     .lane = static_cast<std::uint8_t>(input.byte() % (rail_count + 1)),
                     .send_id = some_number(input),
                     .offset = some_size(input)};
  const auto small = input.byte();
  c.target = {.id = small % 2 ? some_number(input) : small / 2u,
              .address = input.byte(),
              .bytes = some_size(input)};
  if (small >= 0xf0) c.target = on.shown(small % 4);
  return packet_of(c);
}

[[nodiscard]] std::vector<std::byte> some_piece(bytes_of_input& input) {
  const packets::piece_head head{.receive_id = some_number(input), .offset = some_size(input)};
  return packet_of(head, input.some());
}

[[nodiscard]] std::vector<std::byte> some_rts(bytes_of_input& input) {
  messages::rts announced;
  announced.match = {
      .kind = messages::wire_kind::request_to_send, .source = 1, .tag = input.byte() & 1};
  announced.bytes = some_size(input);
  announced.message.number = some_number(input);
  announced.message.address = input.byte();
  return packet_of(announced);
}

[[nodiscard]] std::vector<std::byte> some_eager(bytes_of_input& input) {
  const messages::envelope match{
      .kind = messages::wire_kind::eager, .source = 1, .tag = input.byte() & 1};
  return packet_of(match, input.some());
}

/// The process that is attacked, with messages under way.
struct victim {
  victim(bool bundled, bool measured) : routes(bundled ? rail_count : 1) {
    if (measured)
      routes.known.assign(routes.addresses.size(), sampling::profile::guessed(20'000, 1));
    for (std::uint32_t i = 0; i < routes.addresses.size(); ++i) {
      auto made = ends.make_rail<mouth>(i);
      rails.push_back(made.get());
      peers.add_rail(std::move(made), packets::rail_use::from_start);
    }
    HEADWAY_ASSERT(peers.use(peer));
    exchange = std::make_unique<messages::exchange>(peers, *engine);
    world = exchange->open_context(0, 0, processes::consecutive(2));
    for (const int tag : {0, 1, 1}) {
      auto& memory = received.emplace_back(large);
      exchange->receive(*world, requests.emplace_back(), memory, 1, tag);
    }
    exchange->send(*world, requests.emplace_back(), sent, 1, 0);
    exchange->send(*world, requests.emplace_back(), std::span(sent).first(9), 1, 0);
  }

  void poll() {
    constexpr int rounds_max = 10;  // what is refused is tried again for ever
    for (int i = 0; i < rounds_max; ++i) engine->poll();
  }

  /// Every peer is gone: every request ends.
  void end() {
    for (auto* one : rails) one->say(headway::rails::post::down);
    for (auto& r : requests) exchange->cancel(r);
    for (auto* one : rails) one->tell(headway::rails::event_kind::lost, 0, 1);
    poll();
    for (const auto& r : requests)
      if (!r.test()) std::abort();
    exchange->close_context(world);
  }

  simulation::bare_ends ends{
      1, std::vector(rail_count, simulation::bare_ends::immediate_but([](auto& plan) {
                       plan.severable = true;
                       plan.tells_activity = false;
                       plan.limits.inline_bytes_max = 0;
                     }))};
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(this_machine(), {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes;
  std::vector<std::byte> sent{large};
  std::deque<std::vector<std::byte>> received;
  std::deque<messages::request> requests;
  packets::peers peers{*engine, headway::rails::peer_id{0}, routes, {.processes = 2}};
  std::vector<mouth*> rails;
  std::unique_ptr<messages::exchange> exchange;
  messages::context* world = nullptr;
};

/// Sends frames with the numbers that are due, or others.
class attacker {
 public:
  attacker(victim& of, bytes_of_input& input, bool bundled)
      : of_(of), input_(input), bundled_(bundled) {}

  void act() {
    const auto what = input_.byte();
    const auto via = static_cast<std::uint32_t>((what >> 4) % of_.rails.size());
    auto& on = *of_.rails[via];
    switch (what % 11) {
      case 0:
        return deliver(via, input_.some());
      case 1:
        return frame(via, input_.some(), input_.byte() % 4);
      case 2:
        return frame(via, marked(some_control(input_, on)), 1);
      case 3:
        return frame(via, marked(some_piece(input_)), 1);
      case 4:
        return frame(via, marked(some_rts(input_)), 1);
      case 5:
        return frame(via, marked(some_eager(input_)), 1);
      case 6:
        return on.tell(headway::rails::event_kind::landed,
                       std::uint64_t{input_.byte()} << 32 | some_number(input_), some_size(input_));
      case 7:
        return on.tell(input_.byte() % 2 ? headway::rails::event_kind::lost
                                         : headway::rails::event_kind::restored);
      case 8:
        return on.say(static_cast<headway::rails::post>(input_.byte() % 4));
      case 9:
        return land(via, on.shown(input_.byte() % 4));
      default:
        return acknowledge(via);
    }
  }

 private:
  void deliver(std::uint32_t via, std::span<const std::byte> packet) {
    of_.ends.send(1, packet, via);
  }

  /// All bytes of an exposure come, if there is one.
  void land(std::uint32_t via, const headway::rails::ticket& to) {
    of_.ends.put(1, to, std::vector<std::byte>(to.bytes), via);
  }

  void frame(std::uint32_t via, std::span<const std::byte> contents, unsigned packets) {
    if (!bundled_) return deliver(via, one_rail(contents));
    const auto skipped = input_.byte();
    packets::frame_head head{.acknowledged = acknowledged_,
                             .packets = static_cast<std::uint16_t>(packets),
                             .sequence = due_ + (skipped == 0xff ? 1u << 20 : skipped % 4u),
                             .bytes = static_cast<std::uint32_t>(contents.size())};
    if (skipped % 4 == 0) ++due_;
    deliver(via, packet_of(head, contents));
  }

  /// Over a single rail a packet comes alone.
  [[nodiscard]] static std::vector<std::byte> one_rail(std::span<const std::byte> contents) {
    const auto packet = contents.subspan(std::min(sizeof(packets::packet_mark), contents.size()));
    return {packet.begin(), packet.end()};
  }

  void acknowledge(std::uint32_t via) {
    acknowledged_ += input_.byte() % 4;
    const packets::frame_head head{
        .acknowledged = acknowledged_,
        .kind = input_.byte() % 2 ? packets::frame_kind::ack : packets::frame_kind::ask};
    deliver(via, packet_of(head));
  }

  victim& of_;
  bytes_of_input& input_;
  const bool bundled_;
  std::uint32_t due_ = 0, acknowledged_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int actions_max = 96;
  bytes_of_input input({data, size});
  const auto what = input.byte();
  const bool bundled = what % 4 != 0;
  victim attacked(bundled, what >= 128);
  attacker by(attacked, input, bundled);
  for (int i = 0; input.any() && i < actions_max; ++i) {
    by.act();
    attacked.poll();
  }
  attacked.end();
  return 0;
}
