#pragma once

#include <memory>
#include <utility>

#include "base/clock.hpp"
#include "rails/shm/host.hpp"
#include "rails/shm/segment.hpp"
#include "shm_folder.hpp"

namespace headway::rails::shm {

/// A process whose ring is written to by hand, as by a peer that violates the format.
struct victim_of_peer {
  folder where;
  shm_driver driver, peer{config_in(where, 1)};
  std::unique_ptr<attachment> way;

  explicit victim_of_peer(base::clock clock = {}) : driver(with(config_in(where, 0), clock)) {
    const auto address_here = driver.open(), address_there = peer.open();
    if (!address_here || !address_there || !driver.connect(peer_id{1}, *address_there)) return;
    auto made = attachment::attach(address::parse(*address_here).value(),
                                   {.job = processes::job_id_of("job"), .rank = 1});
    if (made) way = std::move(*made);
  }
  static config with(config c, base::clock clock) {
    c.clock = clock;
    return c;
  }
  /// The words are read once this process knows that the peer sends.
  void begin() const { way->head().active[0].fetch_or(1u); }
};

}  // namespace headway::rails::shm
