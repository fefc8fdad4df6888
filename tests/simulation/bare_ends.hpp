#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "processes/table.hpp"
#include "tests/simulation/driver.hpp"
#include "tests/simulation/network.hpp"

namespace headway::simulation {

/// Connections of one process under test whose other ends are the test itself. A bare end is a
/// driver without a stack above it: the test sends with it any bytes at any moment, also what no
/// stack would send, and takes from it what has arrived.
///
/// The process under test has the number 0, in the network and above it; the bare ends have those
/// from 1 on, and are connected to it. Nothing is random. Time passes as in every network, but the
/// rails need none of it unless their plans say so.
/// Threads:  as the network.
class bare_ends {
 public:
  static constexpr rail_plan immediate{
      .latency_ns = 0, .jitter_ns = 0, .bytes_per_us = UINT64_MAX, .flight_bytes_max = SIZE_MAX};

  /// `immediate` as `change(plan)` leaves it.
  template <class Change>
  [[nodiscard]] static constexpr rail_plan immediate_but(Change change) {
    auto plan = immediate;
    change(plan);
    return plan;
  }

  explicit bare_ends(std::uint32_t count = 1, const std::vector<rail_plan>& rails = {immediate},
                     time_source time = time_source::simulated);

  /// A rail of the process under test, which `net` outlives. `Rail` is derived from `driver`.
  template <class Rail = driver>
  [[nodiscard]] std::unique_ptr<Rail> make_rail(std::uint32_t rail = 0) {
    return std::make_unique<Rail>(net, rail, 0, known, rails::peer_id{0});
  }
  /// The driver of process `number`.
  [[nodiscard]] driver& at(std::uint32_t number, std::uint32_t rail = 0) {
    return all_[(number - 1) * net.rails() + rail];
  }
  /// It sends this to the process under test.
  void send(std::uint32_t number, std::span<const std::byte> packet, std::uint32_t rail = 0);
  /// It sends the next part of a packet, behind which so many bytes follow: driver::send_part.
  void send_part(std::uint32_t number, std::span<const std::byte> part, std::size_t following);
  /// It puts bytes into the memory that the process under test has exposed.
  void put(std::uint32_t number, const rails::ticket& to, std::span<const std::byte> bytes,
           std::uint32_t rail = 0);
  /// Reaps at that process: the packets that have arrived since the last call, whole. Drops all
  /// other events.
  std::vector<std::vector<std::byte>> take(std::uint32_t number, std::uint32_t rail = 0);
  /// The process under test has something to reap.
  [[nodiscard]] bool due() const { return net.due(0); }

  network net;
  processes::table known;  ///< of all of them

 private:
  std::deque<driver> all_;  // by process and rail
};

}  // namespace headway::simulation
