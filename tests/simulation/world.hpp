#pragma once

#include <cstdint>
#include <string>

namespace headway::simulation {

/// A scenario to simulate. The seed determines everything else.
struct scenario {
  std::uint64_t seed = 1;
  std::uint32_t processes = 4;
  std::uint32_t rails = 1;
  std::uint32_t length = 1;  ///< in multiples of the time in which faults happen, and of the faults
  std::uint32_t messages = 400;
  std::size_t bytes_max = 100'000;
  bool cuts = false;     ///< connections are cut, and made again
  bool mutes = false;    ///< connections fall silent for a while
  bool slow = false;     ///< some processes run late
  bool deaths = false;   ///< a process dies
  bool doubles = false;  ///< packets arrive twice

  std::uint32_t collectives = 0;  ///< operations on each communicator
  bool allreduce_first = false;   ///< of all processes; else the seed chooses every operation
  std::uint32_t endpoint_messages = 0;
  std::uint32_t window_episodes = 0;           ///< of one-sided operations, of each process
  bool first_use = false;                      ///< a peer is made when it is used, not at the start
  bool packs = false;                          ///< small messages leave several in a packet
  bool measured = false;                       ///< what the rails take is known at the start
  std::size_t credit_bytes = 1 << 20;          ///< of eager messages to a peer
  std::size_t endpoint_bytes_max = 512 << 20;  ///< of the buffers of a process's end-points
  std::uint32_t window = 256;                  ///< of messages to an end-point
  bool machines = false;       ///< a death is that of a machine: peers notice it by a time limit
  bool lost_rails = false;     ///< all rails of a pair but one end for good
  bool jumps = false;          ///< the clock jumps, as if all processes had been stopped
  bool tells_activity = true;  ///< drivers report their peers' last activity
  bool reads = false;          ///< receivers read large messages out of the senders' memory
  bool pressure = false;       ///< for a while processes cannot expose memory
  bool hoards = false;         ///< for a while programs hold all buffers of end-points
  bool names = false;          ///< end-points have names, which are looked up

  /// The scenario that `seed` determines.
  [[nodiscard]] static scenario of_seed(std::uint64_t seed);
  /// The same without collective operations, end-points and their faults.
  [[nodiscard]] static scenario of_seed_messages_only(std::uint64_t seed);
  /// One-sided operations, and a few messages, under all faults of `of_seed`.
  [[nodiscard]] static scenario of_seed_windows(std::uint64_t seed);
  /// A job that is so many times as long, with as much more work and faults of every kind but those
  /// that are for good, and jumps, which together must be shorter than a peer may be cut off.
  [[nodiscard]] scenario times(std::uint32_t count) const;
  [[nodiscard]] std::string text() const;
};

struct outcome {
  std::string complaint;      ///< empty: every invariant held
  std::uint64_t checked = 0;  ///< messages, and operations, that ended without an error
  std::uint64_t failed = 0;   ///< those that ended because a process was lost
  std::uint64_t packets = 0;
  std::uint64_t steps = 0;  ///< of all processes
  std::uint64_t simulated_ns = 0;
  std::uint64_t fingerprint = 0;  ///< equal scenarios have equal ones
};

/// Simulates a job from its start until all is over, and checks it. `trace` prints what happens to
/// its connections.
///
/// Invariants: those of traffic.hpp, collective_traffic.hpp and endpoint_traffic.hpp; everything
/// ends within `time_limit_ns` of the last fault; nothing fails unless a process has died; when all
/// is over nothing is pending and no memory exposed.
/// Progress: returns also for a job that hangs; the complaint then lists what is under way.
[[nodiscard]] outcome simulate(const scenario& what, bool trace = false);

}  // namespace headway::simulation
