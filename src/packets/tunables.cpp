#include "packets/tunables.hpp"

namespace headway::packets {

base::number_tunable eager_memory_bytes{
    "HEADWAY_EAGER_MEMORY",
    "bytes",
    256 << 20,
    1 << 20,
    std::int64_t{1} << 40,
    "most memory that messages without a receive may take in a process; shared out evenly among "
    "its peers, who use rendezvous beyond their part"};

base::number_tunable eager_peer_bytes_max{"HEADWAY_EAGER_PEER",
                                          "bytes",
                                          1 << 20,
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
    10'000,
    100,
    3'600'000,
    "how long a peer may be without any rail before it counts as failed"};

namespace {

std::vector<const char*> strategy_names() {
  std::vector<const char*> names;
  for (const auto& s : known_strategies()) names.push_back(s.name.data());
  return names;
}

base::choice_tunable strategy_choice{
    "HEADWAY_STRATEGY", strategy_names(), "sampled",
    "how packets and large messages are given to the rails of a peer that has several"};

}  // namespace

const strategy& default_strategy() {
  return *known_strategies()[static_cast<std::size_t>(strategy_choice.index())].how;
}

}  // namespace headway::packets
