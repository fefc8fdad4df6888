#include "tests/unit/strategies/situations.hpp"

namespace headway::packets {

rail_state& rails_of_a_peer::add(rail_state::condition now, std::uint32_t latency_ns,
                                 std::uint64_t busy_ns) {
  return states.emplace_back(rail_state{.now = now, .latency_ns = latency_ns, .busy_ns = busy_ns});
}

void rails_of_a_peer::measured(double latency_ns, double bytes_per_ns) {
  profiles.push_back(sampling::profile::guessed(latency_ns, bytes_per_ns));
  states.back().profile = &profiles.back();
}

rails_of_a_peer rails_of_a_peer::any(std::mt19937_64& random) {
  rails_of_a_peer made;
  const auto count = 1 + random() % rails_per_peer_max;
  for (std::size_t i = 0; i < count; ++i) {
    const auto now = static_cast<rail_state::condition>(random() % 3);
    made.add(now, static_cast<std::uint32_t>(random() % 100'000),
             now == rail_state::condition::busy ? random() % 10'000'000 : 0);
    const auto rate = std::uniform_real_distribution(0.001, 20.0)(random);
    if (random() % 2) made.measured(static_cast<double>(1 + random() % 100'000), rate);
  }
  auto& lucky = made.states[random() % count];
  if (lucky.now == rail_state::condition::down) lucky.now = rail_state::condition::idle;
  return made;
}

void waiting_packets::add(std::size_t payload_bytes, bool urgent) {
  auto& item = items.emplace_back();
  item.head_bytes = 40;
  item.urgent = urgent;
  item.payload = std::span(memory).first(payload_bytes);
  if (items.size() > 1) items[items.size() - 2].next.store(&item, std::memory_order_relaxed);
}

backlog waiting_packets::all() const {
  return {.first = items.empty() ? nullptr : &items.front(), .count = items.size()};
}

}  // namespace headway::packets
