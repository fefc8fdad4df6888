#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "endpoints/service.hpp"
#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "processes/table.hpp"
#include "progress/core/engine.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/network.hpp"
#include "topology/machine.hpp"

namespace headway::simulation {

class driver;

/// How a simulated process is made.
struct process_options {
  std::uint64_t cut_off_ns = 10'000'000'000;
  std::size_t credit_bytes = 1 << 20;         ///< of eager messages, for each peer
  bool endpoints = false;                     ///< it has end-points
  std::size_t endpoint_bytes_max = 64 << 20;  ///< of their buffers
  std::uint32_t window = 256;
  progress::polling points = progress::polling::off;  ///< needs the machine's time
  /// Messages to end-points are packed, and packets that follow each other closely collected,
  /// whatever a packet costs.
  bool packs = false;
  bool measured = false;  ///< what its rails take is known
};

/// The stack of one simulated process: table of processes, engine, peers, messages, end-points.
/// It has no threads: the world calls it.
class process {
 public:
  process(network& net, const topology::machine& machine, std::uint32_t self,
          const process_options& chosen = {});
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  /// Connects to every process of the job. Without it, peers are made on first use.
  void connect_to_all();
  /// Polls until nothing advances any more, or very often; then sets the next wake-up. True:
  /// something has advanced.
  bool run();
  /// Closes the end-points and the rails. After network::run_out.
  void stop();
  /// All processes of the job, in their order, as one communicator.
  [[nodiscard]] messages::context* open(const messages::context_name& name,
                                        bool collective = false);
  /// Nothing is under way but `always_pending` of its work.
  [[nodiscard]] bool at_rest(std::size_t always_pending = 0) const;
  /// Pieces of its memory that others may write to.
  [[nodiscard]] std::size_t exposed_count() const;

  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  [[nodiscard]] std::uint64_t now_ns() const noexcept { return net_.now_ns(); }
  /// It runs at that time at the latest. To be called after each run: an earlier time replaces it.
  void wake_at(std::uint64_t ns) { net_.wake(self_, ns); }
  [[nodiscard]] progress::engine& engine() noexcept { return *engine_; }
  [[nodiscard]] packets::peers& peers() noexcept { return *peers_; }
  [[nodiscard]] messages::exchange& messages() noexcept { return *messages_; }
  /// Null: it has no end-points.
  [[nodiscard]] endpoints::service* endpoints() noexcept { return service_.get(); }
  [[nodiscard]] std::size_t credit_bytes() const noexcept;
  [[nodiscard]] std::uint32_t window() const noexcept { return chosen_.window; }
  [[nodiscard]] std::size_t endpoint_bytes_max() const noexcept {
    return chosen_.endpoint_bytes_max;
  }

 private:
  network& net_;
  const std::uint32_t self_;
  const process_options chosen_;
  processes::table known_;
  std::unique_ptr<progress::engine> engine_;
  std::vector<driver*> drivers_;
  packets::testing::reaches_all routes_;
  std::unique_ptr<packets::peers> peers_;
  std::unique_ptr<endpoints::service> service_;
  std::unique_ptr<messages::exchange> messages_;
};

}  // namespace headway::simulation
