#include "tests/simulation/bare_ends.hpp"

#include "base/assert.hpp"

namespace headway::simulation {

namespace {

constexpr rails::peer_id process_under_test{0};

}  // namespace

bare_ends::bare_ends(std::uint32_t count, const std::vector<rail_plan>& rails, time_source time)
    : net(count + 1, rails, {.retry_one_in = 0, .posted_one_in = 0, .refuse_one_in = 0}, 1, time) {
  for (std::uint32_t rank = 0; rank <= count; ++rank)
    static_cast<void>(known.add({.job = network::job, .rank = rank}));
  for (std::uint32_t number = 1; number <= count; ++number)
    for (std::uint32_t rail = 0; rail < net.rails(); ++rail) {
      auto& end = all_.emplace_back(net, rail, number, known, rails::peer_id{number});
      HEADWAY_ASSERT(end.connect(process_under_test, {}));
    }
}

void bare_ends::send(std::uint32_t number, std::span<const std::byte> packet, std::uint32_t rail) {
  const auto said = at(number, rail).send(process_under_test, {.header = packet});
  HEADWAY_ASSERT(said == rails::post::done);
}

void bare_ends::send_part(std::uint32_t number, std::span<const std::byte> part,
                          std::size_t following) {
  const auto said = at(number).send_part(process_under_test, part, following);
  HEADWAY_ASSERT(said == rails::post::done);
}

void bare_ends::put(std::uint32_t number, const rails::ticket& to, std::span<const std::byte> bytes,
                    std::uint32_t rail) {
  const auto said = at(number, rail).memory()->put(process_under_test, {.exposed = to}, bytes, 0);
  HEADWAY_ASSERT(said == rails::post::done);
}

std::vector<std::vector<std::byte>> bare_ends::take(std::uint32_t number, std::uint32_t rail) {
  std::vector<std::vector<std::byte>> packets;
  auto& end = at(number, rail);
  for (rails::event e; end.reap({&e, 1}) == 1;) {
    if (e.kind != rails::event_kind::received) continue;
    packets.emplace_back(e.bytes.begin(), e.bytes.end());
    end.release(e);
  }
  return packets;
}

}  // namespace headway::simulation
