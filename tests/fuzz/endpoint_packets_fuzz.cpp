// Packets of end-points and of their name service, with any bytes: the service must neither crash
// nor read outside the packet.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "endpoints/service.hpp"
#include "endpoints/wire/wire.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"
#include "topology/machine.hpp"

namespace {

using namespace headway;

constexpr std::size_t memory_bytes = 8 * 1024;  // so little that messages wait for buffers

struct house {
  simulation::bare_ends ends;
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  packets::testing::reaches_all routes;
  packets::peers peers{*engine, static_cast<rails::peer_id>(0), routes, {.processes = 2}};
  endpoints::service service{peers,
                             *engine,
                             {.process = 0, .job = 1, .nodes = {0, 0}},
                             {.memory_bytes = memory_bytes, .checks = true, .window = 8}};
  std::unique_ptr<messages::exchange> exchange;
  std::uint32_t id = 0;

  house() {
    peers.add_rail(ends.make_rail());
    for (std::uint32_t p = 0; p < 2; ++p)
      static_cast<void>(peers.use(static_cast<rails::peer_id>(p)));
    exchange = std::make_unique<messages::exchange>(peers, *engine);
    service.attach(*exchange);
    static_cast<void>(service.open("", 0, id));
    // The peer has an end-point, which may return credit, or be gone.
    static_cast<void>(service.send({.to = {.process = 1, .id = 1}}, endpoints::no_wait));
  }
  ~house() { service.stop(); }
  void poll() {
    while (ends.due()) engine->poll();
    engine->poll();
    ends.take(1);  // frees the answers
  }
};

}  // namespace

/// Input: packets, each after a byte with its length. After them the peer may be lost: it leaves,
/// or it dies.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using endpoints::wire_kind;
  static std::unique_ptr<house> all;
  if (!all) all = std::make_unique<house>();
  bool is_lost = size > 0 && data[0] % 8 == 7;
  const bool dies = is_lost;
  for (std::size_t at = 0; at < size;) {
    const std::size_t bytes = std::min<std::size_t>(data[at], size - at - 1);
    std::vector<std::byte> packet(sizeof(packets::stream_head) + bytes);
    if (bytes > 0) std::memcpy(packet.data() + 4, data + at + 1, bytes);
    // Only kinds of end-points: packet_fuzz.cpp tests those of `messages`.
    constexpr auto kinds = static_cast<unsigned>(wire_kind::lent) - packets::beside_kinds + 1;
    auto& kind = packet[offsetof(packets::stream_head, kind)];
    kind = static_cast<std::byte>(packets::beside_kinds + std::to_integer<unsigned>(kind) % kinds);
    is_lost |= kind == static_cast<std::byte>(wire_kind::leaving);
    all->ends.send(1, packet);
    at += bytes + 1;
  }
  if (dies) all->ends.net.kill(1, 0);
  all->poll();
  endpoints::message got;
  while (all->service.receive(all->id, {}, endpoints::no_wait, got) == endpoints::outcome::ok) {
    static_cast<void>(all->service.release(got.data));
    all->poll();
  }
  if (is_lost) all.reset();
  return 0;
}
