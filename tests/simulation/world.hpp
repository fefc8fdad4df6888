#pragma once

#include <cstdint>
#include <string>

namespace headway::simulation {

/// What is simulated. The seed decides all that is not said here.
struct scenario {
  std::uint64_t seed = 1;
  std::uint32_t processes = 4;
  std::uint32_t rails = 1;
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
  bool first_use = false;                      ///< a peer is made when it is used, not at the start
  bool packs = false;                          ///< messages to end-points leave several in a packet
  std::size_t credit_bytes = 1 << 20;          ///< of eager messages to a peer
  std::size_t endpoint_bytes_max = 512 << 20;  ///< of the buffers of a process's end-points
  std::uint32_t window = 256;                  ///< of messages to an end-point
  bool names = false;                          ///< end-points have names, which are looked up
  bool machines = false;                       ///< a death is that of a machine, which tells nobody
  bool lost_rails = false;                     ///< all rails of a pair but one end for good
  bool jumps = false;          ///< the clock jumps, as if all processes had been stopped
  bool tells_activity = true;  ///< drivers know when their peers were last heard
  bool pressure = false;       ///< for a while processes can expose no memory
  bool hoards = false;         ///< for a while programs hold all buffers of end-points

  /// A scenario whose every word comes from `seed`.
  [[nodiscard]] static scenario of_seed(std::uint64_t seed);
  /// The same without what the stack above the messages does, and without its faults.
  [[nodiscard]] static scenario of_seed_messages_only(std::uint64_t seed);
  [[nodiscard]] std::string text() const;
};

struct outcome {
  std::string complaint;      ///< empty: every invariant held
  std::uint64_t checked = 0;  ///< messages, and operations, that ended as they should
  std::uint64_t failed = 0;   ///< that ended because a process was lost
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
/// Progress: returns; a job that hangs is a complaint that says what is still under way.
[[nodiscard]] outcome simulate(const scenario& what, bool trace = false);

}  // namespace headway::simulation
