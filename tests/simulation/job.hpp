#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/simulation/network.hpp"
#include "tests/simulation/process.hpp"
#include "topology/machine.hpp"

namespace headway::simulation {

/// A few simulated processes, which a test runs step by step.
struct job_options {
  std::uint32_t processes = 2;
  std::uint32_t rails = 1;
  std::uint64_t seed = 1;
  std::uint64_t cut_off_ns = 60'000'000'000;
  rail_plan rail = {.latency_ns = 1'000, .jitter_ns = 1'000, .flight_bytes_max = 16384};
  temper difficulty = {.retry_one_in = 4, .posted_one_in = 2, .refuse_one_in = 4};
  time_source time = time_source::simulated;
  /// With the machine's time: the background polling points.
  progress::polling points = progress::polling::off;
  // End-points:
  bool endpoints = false;
  bool packs = false;
  std::size_t endpoint_bytes_max = 64 << 20;
  std::uint32_t window = 256;
};

/// Threads:  one; with the machine's time any.
class job {
 public:
  explicit job(const job_options& chosen);
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  [[nodiscard]] network& net() noexcept { return net_; }
  [[nodiscard]] process& at(std::size_t i) noexcept { return *all_[i]; }
  [[nodiscard]] packets::peers& peers(std::size_t i) noexcept { return all_[i]->peers(); }
  [[nodiscard]] messages::exchange& messages(std::size_t i) noexcept { return all_[i]->messages(); }
  [[nodiscard]] endpoints::service& endpoints(std::size_t i) noexcept {
    return *all_[i]->endpoints();
  }
  [[nodiscard]] messages::context* open(std::size_t i, const messages::context_name& name,
                                        bool collective = false) {
    return all_[i]->open(name, collective);
  }
  void kill(std::size_t i) { net_.kill(static_cast<std::uint32_t>(i), 0); }

  // With simulated time:
  /// Runs the processes whose wake-up is due.
  void step();
  /// Steps until `enough()`; false: so much simulated time has passed, or nothing will happen any
  /// more.
  template <class Enough>
  [[nodiscard]] bool run_until(Enough enough, std::uint64_t within_ns = 60'000'000'000) {
    wake_all();
    const auto until_ns = net_.now_ns() + within_ns;
    while (!enough())
      if (!run_next(until_ns)) return enough();
    return true;
  }
  /// Steps until nothing more happens, or for a second.
  void settle() {
    static_cast<void>(run_until([] { return false; }, 1'000'000'000));
  }

 private:
  void wake_all();
  [[nodiscard]] bool run_next(std::uint64_t until_ns);

  network net_;
  std::unique_ptr<topology::machine> machine_;
  std::vector<std::unique_ptr<process>> all_;
};

}  // namespace headway::simulation
