#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "collectives/exchange_transport.hpp"
#include "collectives/team.hpp"
#include "tests/simulation/job.hpp"

namespace headway::collectives {

/// Runs `body(team, processes, engine)` for each of `ranks` ranks, in a thread each, once on free
/// processors and once as if ranks outnumbered them. `prepare()` is called before each time.
constexpr std::uint32_t thread_ranks_max = 3;
template <class Prepare, class Body>
void for_each_thread_rank(const Prepare& prepare, const Body& body,
                          std::uint32_t ranks = thread_ranks_max) {
  for (const bool oversubscribed : {false, true}) {
    prepare();
    simulation::job job({.processes = ranks,
                         .time = simulation::time_source::machine,
                         .points = progress::polling::automatic});
    std::vector<messages::context*> contexts(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) contexts[i] = job.open(i, 0, true);
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t i = 0; i < ranks; ++i) {
        threads.emplace_back([&, i] {
          exchange_transport messages(job.messages(i), *contexts[i]);
          team all(messages, static_cast<int>(i), static_cast<int>(ranks), oversubscribed);
          const std::array<rails::peer_id, thread_ranks_max> processes{
              rails::peer_id{0}, rails::peer_id{1}, rails::peer_id{2}};
          body(all, std::span(processes).first(ranks), job.at(i).engine());
        });
      }
    }
    for (std::uint32_t i = 0; i < ranks; ++i) job.messages(i).close_context(contexts[i]);
  }
}

}  // namespace headway::collectives
