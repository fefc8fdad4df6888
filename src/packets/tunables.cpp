// The user's settings; settings.hpp has them as values.
#include "base/log.hpp"
#include "base/tunable.hpp"
#include "packets/settings.hpp"

namespace headway::packets {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
const settings defaults;

base::number_tunable eager_memory_bytes{
    "HEADWAY_EAGER_MEMORY",
    "bytes",
    defaults.eager_memory_bytes,
    1 << 20,
    std::int64_t{1} << 40,
    "most memory that messages without a receive may take in a process; shared out evenly among "
    "its peers, who use rendezvous beyond their part"};

base::number_tunable eager_peer_bytes_max{"HEADWAY_EAGER_PEER",
                                          "bytes",
                                          defaults.eager_peer_bytes_max,
                                          1 << 12,
                                          1 << 30,
                                          "most of that memory for a single peer"};

base::number_tunable rails_per_peer{
    "HEADWAY_RAILS_PER_PEER",
    "rails",
    rails_per_peer_max,
    1,
    rails_per_peer_max,
    "most rails to one peer; with more than one, messages survive the loss of all but one. The "
    "same in all processes"};

base::number_tunable cut_off_ms{
    "HEADWAY_CUT_OFF_MS",
    "ms",
    static_cast<std::int64_t>(defaults.cut_off_ns / ns_per_ms),
    100,
    3'600'000,
    "how long a peer may be without any rail before it counts as failed; a process that is gone is "
    "known at once"};

base::text_tunable strategy_wanted{
    "HEADWAY_STRATEGY", "sampled", "fifo|aggregate|equal|sampled|parallel|/path/strategy.so",
    "which packets leave together, and how large messages are divided over the rails to a peer. "
    "Over a single rail equal, sampled and parallel do as aggregate does, and fifo sends each "
    "packet alone"};

const strategy* wanted_strategy() {
  const auto& wanted = strategy_wanted.get();
  if (const auto* known = find_strategy(wanted)) return known;
  if (wanted.contains('/')) {
    const auto loaded = load_strategy(wanted);
    if (loaded) return *loaded;
    base::log(base::severity::error, "{}", loaded.error().text);
  } else {
    base::log(base::severity::error,
              "HEADWAY_STRATEGY is '{}', which is no strategy and no path of one", wanted);
  }
  return defaults.how;
}

}  // namespace

settings settings::from_environment() {
  return {.eager_memory_bytes = packets::eager_memory_bytes.get(),
          .eager_peer_bytes_max = packets::eager_peer_bytes_max.get(),
          .rails_per_peer = static_cast<std::size_t>(packets::rails_per_peer.get()),
          .cut_off_ns = static_cast<std::uint64_t>(cut_off_ms.get()) * ns_per_ms,
          .how = wanted_strategy()};
}

}  // namespace headway::packets
