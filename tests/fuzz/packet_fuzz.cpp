// Packets of any bytes, as a rail may deliver them, while receives are posted, an rts is under way,
// memory is exposed and a collective operation waits: no field may be trusted.

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "messages/exchange.hpp"
#include "messages/operation_log.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/silent_driver.hpp"

namespace {

using namespace headway;

/// A rail that delivers the fuzzer's packets, accepts every packet and sends none.
class mouth final : public rails::testing::silent_driver {
 public:
  rails::limits query() const noexcept override {
    return {.name = "mouth", .header_bytes_max = 64, .eager_bytes_max = 256};
  }
  rails::post send(rails::peer_id, const rails::packet&) noexcept override {
    return rails::post::done;
  }
  rails::post put(rails::peer_id, const rails::remote_place&, std::span<const std::byte>,
                  std::uint64_t cookie) noexcept override {
    events.push_back({.kind = rails::event_kind::sent, .cookie = cookie});
    return rails::post::posted;
  }
};

constexpr int rank_count = 3;

/// Two bytes before each packet.
struct head {
  explicit head(std::span<const std::uint8_t> input) noexcept
      : peer{1u + (input[0] & 1u)},
        in_parts((input[0] & 2) != 0),
        bytes(std::min<std::size_t>(input[0] >> 2 | input[1] << 6, input.size() - 2)) {}
  rails::peer_id peer;
  bool in_parts;
  std::size_t bytes;
};

void hear(std::span<const std::uint8_t> input) {
  static const auto machine = topology::machine::read().value();
  auto engine = progress::engine::start(*machine, {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes;
  packets::peers peers(*engine, rails::peer_id{0}, routes, {.processes = rank_count});
  auto made = std::make_unique<mouth>();
  mouth& rail = *made;
  peers.add_rail(std::move(made), packets::rail_use::from_start);

  std::array<std::byte, 512> room{};
  std::deque<messages::request> requests;
  messages::exchange exchange(peers, *engine);
  messages::context* world = exchange.open_context(0, 0, processes::consecutive(3));
  for (const int source : {1, 2, messages::any_source})
    exchange.receive(*world, requests.emplace_back(), room, source, 0);
  exchange.receive(*world, requests.emplace_back(), room, messages::any_source, messages::any_tag);
  exchange.send(*world, requests.emplace_back(), room, 1, 0, messages::send_mode::synchronous);
  messages::context* team = exchange.open_context({1, 1}, 0, processes::consecutive(3), true);
  auto& log = messages::exchange::log_of(*team);
  for (const messages::operation_log::word call : {1u, 2u, 3u}) log.note(call);
  const messages::label third{messages::operation_tags.of(3), log.history()};
  exchange.receive(*team, requests.emplace_back(), std::span(room).first(8), 1, third);

  std::deque<std::vector<std::byte>> packets;
  while (input.size() >= 2) {
    const auto [peer, in_parts, bytes] = head(input);
    const auto* begin = reinterpret_cast<const std::byte*>(input.data() + 2);
    packets.emplace_back(begin, begin + bytes);
    const auto packet = std::span<const std::byte>(packets.back());
    const auto first = in_parts ? std::min<std::size_t>(bytes, 24) : bytes;
    rail.events.push_back({.peer = peer, .count = bytes - first, .bytes = packet.first(first)});
    if (first < bytes)
      rail.events.push_back(
          {.kind = rails::event_kind::continued, .peer = peer, .bytes = packet.subspan(first)});
    if (in_parts)
      rail.events.push_back({.kind = rails::event_kind::landed,
                             .peer = peer,
                             .count = bytes,
                             .cookie = 1u << 20 | (bytes & 3)});
    input = input.subspan(2 + bytes);
    while (!rail.events.empty()) engine->poll();
  }
  for (auto& r : requests) exchange.cancel(r);
  for (const auto peer : {0u, 1u, 2u})
    rail.events.push_back({.kind = rails::event_kind::lost, .peer = rails::peer_id{peer}});
  while (!rail.events.empty()) engine->poll();
  for (const auto& r : requests)
    if (!r.test()) std::abort();  // a request must end when all its peers are gone
  for (auto* each : {world, team}) exchange.close_context(each);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hear({data, size});
  return 0;
}
