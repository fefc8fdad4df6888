#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "rails/memory.hpp"
#include "tests/simulation/dice.hpp"

namespace headway::simulation {

class driver;

/// A rail of the simulated job: every pair of processes has one connection on it.
struct rail_plan {
  std::uint64_t latency_ns = 20'000;
  std::uint64_t jitter_ns = 5'000;       ///< at most so much more, by the dice, for each packet
  std::uint64_t bytes_per_us = 1'000;    ///< of the interface of a process, all its peers together
  std::size_t flight_bytes_max = 65536;  ///< of a connection; beyond it `send` answers `retry`
  bool severable = false;                ///< may be cut while both processes live
  bool tells_activity = true;            ///< `last_activity_ns` is known
};

/// How difficult the drivers are, within the contract.
struct temper {
  std::uint64_t retry_one_in = 8;   ///< `send` answers `retry` without a reason
  std::uint64_t posted_one_in = 2;  ///< `send` answers `posted` instead of `done`
  std::uint64_t refuse_one_in = 8;  ///< `expose` answers that there is no memory now
};

/// Whose time it is.
enum class time_source : std::uint8_t {
  simulated,  ///< a number that `next` advances: one thread, and equal seeds give equal runs
  machine,    ///< the machine's clock: for tests with threads, whose runs differ
};

/// The network between the simulated processes, and the order of all that happens: a virtual clock
/// and a queue of wake-ups.
///
/// A connection keeps the order of its packets, as the driver contract demands. Between connections
/// there is none but that of arrival times, which follow from latency, jitter, and the sender's
/// interface, whose rate all its connections share. A connection can be cut (both ends are told),
/// muted (nobody is told), and made again; a process can die.
///
/// Shape:    what is in flight is bounded by `flight_bytes_max` a connection.
/// Threads:  with simulated time one network at a time in a process, one thread: its clock is the
///           process's. With the machine's, drivers may be used as the contract allows, and faults
///           come from any thread; there are no wake-ups then.
/// Progress: `next` moves the clock to the next wake-up. Equal seeds give equal runs.
class network {
 public:
  network(std::uint32_t processes, std::vector<rail_plan> rails, temper t, std::uint64_t seed,
          time_source time = time_source::simulated);

  [[nodiscard]] std::uint64_t now_ns() const noexcept { return clock().now_ns(); }
  /// For what is simulated. It must not outlive the network.
  [[nodiscard]] base::clock clock() const noexcept {
    return clock_ ? base::clock(now_ns_) : base::clock();
  }
  /// From now on time passes with every look at a driver: for the end of a process, which waits for
  /// its peers until a time limit.
  void run_out() {
    const std::scoped_lock hold(lock_);
    running_out_ = true;
  }
  [[nodiscard]] std::uint32_t processes() const noexcept { return processes_; }
  [[nodiscard]] std::uint32_t rails() const noexcept {
    return static_cast<std::uint32_t>(plans_.size());
  }

  // ---- wake-ups
  /// `process` is to run at `at_ns`, or now if that is over. Only the earliest such time counts: a
  /// process that runs says again when it is to run next. The number behind the last process is
  /// the world itself, which has faults to do.
  void wake(std::uint32_t process, std::uint64_t at_ns);
  /// Moves the clock to the next wake-ups and says whose they are, in an order by the dice. Empty:
  /// nothing will ever happen again.
  [[nodiscard]] const std::vector<std::uint32_t>& next();

  // ---- faults
  /// A reset: what is in flight is gone, both ends are told.
  void cut(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  /// What is sent arrives after `mend`, if an end has not given the connection up by then; no
  /// connection is made meanwhile. Nobody is told.
  void mute(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  void mend(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  /// The process never runs again. Its peers are told within `known_after_ns`.
  void kill(std::uint32_t process, std::uint64_t known_after_ns);
  /// The same with its whole machine: the peers' kernels only find out, within `known_after_ns`,
  /// that their connections are lost, not that the process is gone.
  void kill_machine(std::uint32_t process, std::uint64_t known_after_ns);
  /// The connection ends, and none is made again.
  void lose_rail(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  /// From now on the process can expose no memory; or can again.
  void refuse_memory(std::uint32_t process, bool refuses);
  /// Time passes, and nobody runs meanwhile.
  void jump(std::uint64_t ns);
  /// The rate of every interface on this rail, from now on.
  void set_rate(std::uint32_t rail, std::uint64_t bytes_per_us);
  /// Every wake-up of the process is late by so much from now on.
  void slow_down(std::uint32_t process, std::uint64_t late_ns);
  /// Packets may arrive twice, which no driver does: for tests of what is above.
  bool doubles = false;
  /// Sees every packet that is sent: for tests that say which ones leave.
  std::function<void(std::uint32_t from, std::uint32_t to, std::span<const std::byte> header)>
      on_packet;
  /// What is put into exposed memory arrives before the packets that were sent before it.
  bool puts_overtake = false;
  /// Prints faults and what becomes of connections on standard error.
  bool trace = false;

  // ---- what happened
  [[nodiscard]] bool dead(std::uint32_t process) const { return dead_[process]; }
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  /// Bytes of exposed memory that were written over a rail.
  [[nodiscard]] std::uint64_t put_bytes(std::uint32_t rail) const { return put_bytes_[rail]; }
  /// Of the run so far: equal runs have equal ones.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }

 private:
  friend class driver;

  struct parcel {
    std::uint64_t at_ns = 0;
    std::vector<std::byte> bytes;
    std::uint64_t exposure = 0;  ///< 0: an ordinary packet
    std::uint64_t offset = 0;
  };
  /// One end of a connection.
  struct end {
    bool up = true;
    bool wants = false;           ///< `revive` was called
    std::uint64_t active_ns = 0;  ///< when something last arrived
    std::size_t bytes = 0;
    std::deque<parcel> coming;  ///< to this end, in order of arrival
  };
  struct connection {
    bool muted = false;
    bool lost = false;  ///< for good
    end ends[2];        ///< of the lower process, of the higher
  };
  struct wake_up {
    std::uint64_t at_ns;
    std::uint32_t process;
    friend bool operator>(const wake_up& a, const wake_up& b) {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.process > b.process;
    }
  };
  using key = std::uint64_t;  // rail, lower process, higher process

  [[nodiscard]] connection& between(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  [[nodiscard]] end& end_of(std::uint32_t rail, std::uint32_t whose, std::uint32_t other) {
    return between(rail, whose, other).ends[whose > other];
  }
  [[nodiscard]] driver* driver_of(std::uint32_t rail, std::uint32_t process) {
    return drivers_[rail * processes_ + process];
  }
  /// This process has connected to that one.
  [[nodiscard]] bool uses(std::uint32_t rail, std::uint32_t whose, std::uint32_t other);
  void tell(std::uint32_t rail, std::uint32_t process, const rails::event& what,
            std::uint64_t at_ns);
  void lose(std::uint32_t rail, std::uint32_t whose, std::uint32_t other, bool process_gone,
            std::uint64_t at_ns);
  void connect_again(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  std::uint64_t depart(std::uint32_t rail, std::uint32_t from, std::uint32_t to, parcel p);
  void die(std::uint32_t process, std::uint64_t known_after_ns, bool machine);
  void set_now(std::uint64_t now_ns) noexcept { now_ns_.store(now_ns, std::memory_order_relaxed); }
  void say(const char* what, std::uint32_t rail, std::uint32_t a, std::uint32_t b) const;
  void note(std::uint64_t what) noexcept {
    fingerprint_ = (fingerprint_ ^ what) * 0x100000001b3u;  // FNV-1a
  }

  const std::uint32_t processes_;
  mutable std::recursive_mutex lock_;  // of everything, drivers included; see `time_source`
  std::vector<rail_plan> plans_;
  const temper temper_;
  dice dice_;
  base::atomic<std::uint64_t> now_ns_{1'000'000'000};  // not 0, which means "never" in places
  std::optional<base::process_clock_override> clock_;  // nothing: the machine's
  bool running_out_ = false;
  std::map<key, connection> connections_;
  std::vector<std::uint64_t> interface_free_ns_;  // by rail and process
  std::vector<driver*> drivers_;                  // likewise
  std::vector<bool> closed_;  // likewise: it has been, whether it is still there
  std::vector<bool> dead_;
  std::vector<bool> refuses_memory_;
  std::vector<std::uint64_t> put_bytes_;  // by rail
  std::vector<std::uint64_t> late_ns_;
  std::priority_queue<wake_up, std::vector<wake_up>, std::greater<>> wake_ups_;
  std::vector<std::uint64_t> wake_ns_;  // of each process: its next wake-up; or never
  std::vector<std::uint32_t> now_awake_;
  std::uint64_t packets_ = 0;
  std::uint64_t fingerprint_ = 0xcbf29ce484222325u;
};

}  // namespace headway::simulation
