// Runs seeds of the simulation: `simulate [--from SEED] [--seeds COUNT] [--seconds LIMIT]
// [--length TIMES]`.
// Prints each seed that fails, with what replays it; exit status 1 if one did.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "base/log.hpp"
#include "tests/simulation/world.hpp"

int main(int argc, char** argv) {
  using namespace headway::simulation;
  CLI::App app{"Simulated jobs on a virtual clock and a seeded network that fails."};
  std::uint64_t from = 1, seeds = 100, seconds = 0;
  std::uint32_t length = 1;
  bool verbose = false, trace = false, messages_only = false, windows = false;
  app.add_option("--from", from, "the first seed");
  app.add_option("--seeds", seeds, "how many; 0: until the time is over");
  app.add_option("--seconds", seconds, "begin no seed after so long; 0: no limit");
  app.add_option("--length", length, "jobs that are so many times as long");
  app.add_flag("--verbose", verbose, "a line for every seed");
  app.add_flag("--messages-only", messages_only, "no collective operations, no end-points");
  app.add_flag("--windows", windows, "one-sided operations, with a few messages");
  app.add_flag("--trace", trace, "what happens to connections, on standard error");
  CLI11_PARSE(app, argc, argv);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // memory that one job frees is reused by the next
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  if (!verbose) headway::base::log_as({.least = headway::base::severity::error});

  const auto began = std::chrono::steady_clock::now();
  std::uint64_t done = 0, failures = 0, checked = 0, packets = 0;
  double simulated_s = 0;
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  for (; seeds == 0 || done < seeds; ++done) {
    if (seconds != 0 && elapsed_s() > static_cast<double>(seconds)) break;
    const auto of = messages_only ? scenario::of_seed_messages_only
                    : windows     ? scenario::of_seed_windows
                                  : scenario::of_seed;
    const auto what = of(from + done).times(length);
    const auto result = simulate(what, trace);
    checked += result.checked;
    packets += result.packets;
    simulated_s += static_cast<double>(result.simulated_ns) * 1e-9;
    if (verbose)
      fmt::print("{}: {} messages, {} steps, {:.3f} s simulated, {:016x}\n", what.text(),
                 result.checked, result.steps, static_cast<double>(result.simulated_ns) * 1e-9,
                 result.fingerprint);
    if (result.complaint.empty()) continue;
    ++failures;
    fmt::print(
        "FAILED {}\n  {}\n  replay: simulate --from {} --seeds 1 --length {} --verbose "
        "--trace{}{}\n",
        what.text(), result.complaint, what.seed, length, messages_only ? " --messages-only" : "",
        windows ? " --windows" : "");
    std::fflush(stdout);  // a run may be killed before its last seed
  }
  fmt::print(
      "{} seeds, {} failed; {} messages checked, {} packets, {:.1f} s simulated in {:.1f} s\n",
      done, failures, checked, packets, simulated_s, elapsed_s());
  return failures == 0 ? 0 : 1;
}
