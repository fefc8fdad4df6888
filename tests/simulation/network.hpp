#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <span>
#include <vector>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "rails/memory.hpp"
#include "tests/simulation/dice.hpp"

namespace headway::simulation {

class driver;

/// A recursive mutex, or nothing where there is only one thread.
class optional_mutex {
 public:
  explicit optional_mutex(bool needed) noexcept : needed_(needed) {}
  void lock() {
    if (needed_) mutex_.lock();
  }
  void unlock() noexcept {
    if (needed_) mutex_.unlock();
  }

 private:
  const bool needed_;
  std::recursive_mutex mutex_;
};

/// A rail of the simulated job: every pair of processes has one connection on it.
struct rail_plan {
  std::uint64_t latency_ns = 20'000;
  std::uint64_t jitter_ns = 5'000;       ///< at most so much more, by the dice, for each packet
  std::uint64_t bytes_per_us = 1'000;    ///< of the interface of a process, all its peers together
  std::size_t flight_bytes_max = 65536;  ///< of a connection; beyond it `send` answers `retry`
  std::size_t queue_bytes_max = SIZE_MAX;  ///< that wait for the interface; likewise
  bool severable = false;                  ///< may be cut while both processes live
  bool tells_activity = true;              ///< `last_activity_ns` is known
  bool readable = false;  ///< processes get large messages out of each other's memory
  /// What the drivers state. `latency_ns` 0: that of the plan.
  rails::limits limits = {.name = "simulated",
                          .header_bytes_max = 64,
                          .eager_bytes_max = 4096,
                          .inline_bytes_max = 512};
};

/// How often the drivers use each freedom of the contract.
struct temper {
  std::uint64_t retry_one_in = 8;   ///< `send` answers `retry` without a reason
  std::uint64_t posted_one_in = 2;  ///< `send` answers `posted` instead of `done`
  std::uint64_t refuse_one_in = 8;  ///< `expose` fails for lack of memory
};

/// Which clock the network uses.
enum class time_source : std::uint8_t {
  simulated,  ///< a number that `next` advances: one thread, and equal seeds give equal runs
  machine,    ///< the machine's clock: for tests with threads, whose runs differ
};

/// The network between the simulated processes, with a virtual clock and a queue of wake-ups, which
/// determine the order of all events.
///
/// A connection keeps the order of its packets, as the driver contract demands. Between connections
/// the order is that of arrival times, which follow from latency, jitter, and the rate of the
/// sender's interface, which all its connections share. A connection can be cut (both ends report
/// it), muted (no end reports it), and made again; a process can die.
///
/// Shape:    what is in flight is bounded by `flight_bytes_max` a connection.
/// Threads:  with simulated time, one. With the machine's, drivers may be used as the contract
///           allows, and faults come from any thread; there are no wake-ups then.
/// Progress: `next` moves the clock to the next wake-up. Equal seeds give equal runs.
class network {
 public:
  network(std::uint32_t processes, std::vector<rail_plan> rails, temper t, std::uint64_t seed,
          time_source time = time_source::simulated);

  /// The job whose ranks the processes are, in their order, unless `name` says otherwise.
  static constexpr std::uint64_t job = 7;
  /// What the network adds to each packet.
  static constexpr std::size_t headers_bytes = 64;
  void name(std::uint32_t process, processes::process_id as);

  [[nodiscard]] std::uint64_t now_ns() const noexcept { return clock().now_ns(); }
  /// The clock of the simulated processes. Copies must not outlive the network.
  [[nodiscard]] base::clock clock() const noexcept { return clock_; }
  /// Makes time pass with every call of a driver: for the end of a process, which waits for its
  /// peers until a time limit.
  void run_out() {
    const std::scoped_lock hold(lock_);
    running_out_ = true;
  }
  [[nodiscard]] std::uint32_t processes() const noexcept { return processes_; }
  /// Before a fault changes it.
  [[nodiscard]] const rail_plan& plan(std::uint32_t rail) const noexcept { return plans_[rail]; }
  [[nodiscard]] std::uint32_t rails() const noexcept {
    return static_cast<std::uint32_t>(plans_.size());
  }

  // ---- wake-ups
  /// Wakes `process` at `at_ns`, or now if that is past. Only its earliest wake-up counts; after
  /// each run a process sets the next one. The number after the last process is the world itself,
  /// which causes faults.
  void wake(std::uint32_t process, std::uint64_t at_ns);
  /// Moves the clock to the next wake-ups and returns their processes, in random order. Empty:
  /// nothing will happen any more.
  [[nodiscard]] const std::vector<std::uint32_t>& next();

  /// Whether a rail of the process has events now, or may have room again: see driver::due_ns.
  [[nodiscard]] bool due(std::uint32_t process) const;

  // ---- faults
  /// Resets a connection: bytes in flight are lost, and both ends report it.
  void cut(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  /// Makes a connection silent: packets arrive after `mend`, unless an end has severed the
  /// connection by then; meanwhile no connection is made. No end reports it.
  void mute(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  void mend(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  /// Kills a process. Its peers' drivers report it within `known_after_ns`.
  void kill(std::uint32_t process, std::uint64_t known_after_ns);
  /// Kills its machine: within `known_after_ns` the peers' drivers report that connections are
  /// lost, but not that the process is dead.
  void kill_machine(std::uint32_t process, std::uint64_t known_after_ns);
  /// Ends a connection for good.
  void lose_rail(std::uint32_t rail, std::uint32_t a, std::uint32_t b);
  /// Whether the process can expose memory, from now on.
  void refuse_memory(std::uint32_t process, bool refuses);
  /// Lets time pass without running any process.
  void jump(std::uint64_t ns);
  /// Sets the rate of every interface on this rail.
  void set_rate(std::uint32_t rail, std::uint64_t bytes_per_us);
  /// Delays every wake-up of the process by so much, from now on.
  void slow_down(std::uint32_t process, std::uint64_t late_ns);
  /// Makes packets arrive twice, which no driver does: for tests of the modules above.
  bool doubles = false;
  /// Sees every packet that is sent: for tests that say which ones leave.
  std::function<void(std::uint32_t from, std::uint32_t to, std::span<const std::byte> header)>
      on_packet;
  /// What is put into exposed memory arrives before the packets that were sent before it.
  bool puts_overtake = false;
  /// Prints faults and changes of connections on standard error.
  bool trace = false;

  // ---- results
  [[nodiscard]] bool dead(std::uint32_t process) const { return dead_[process]; }
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  /// Bytes of exposed memory that were written over a rail.
  [[nodiscard]] std::uint64_t put_bytes(std::uint32_t rail) const { return put_bytes_[rail]; }
  /// A hash of the run so far: equal runs have equal ones.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }

 private:
  friend class driver;

  struct parcel {
    std::uint64_t at_ns = 0;
    std::vector<std::byte> bytes;
    std::uint64_t exposure = 0;  ///< 0: an ordinary packet
    std::uint64_t offset = 0;
    std::size_t following = 0;  ///< of the same packet, in later parcels
  };
  /// One end of a connection.
  struct end {
    bool up = true;
    bool wants = false;           ///< `revive` was called
    std::uint64_t active_ns = 0;  ///< when something last arrived
    std::uint64_t known_ns = 0;  ///< when its process learns of the connection: its end comes later
    std::size_t bytes = 0;
    std::deque<parcel> coming;  ///< to this end, in order of arrival
    std::size_t following = 0;  ///< of the packet that was received last
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
  [[nodiscard]] std::uint64_t takes_again_ns(std::uint32_t rail, std::uint32_t process) const;
  std::uint64_t depart(std::uint32_t rail, std::uint32_t from, std::uint32_t to, parcel p);
  void die(std::uint32_t process, std::uint64_t known_after_ns, bool machine);
  void set_now(std::uint64_t now_ns) noexcept { now_ns_.store(now_ns, std::memory_order_relaxed); }
  void say(const char* what, std::uint32_t rail, std::uint32_t a, std::uint32_t b) const;
  void note(std::uint64_t what) noexcept {
    fingerprint_ = (fingerprint_ ^ what) * 0x100000001b3u;  // FNV-1a
  }

  const std::uint32_t processes_;
  mutable optional_mutex lock_;  // of everything, drivers included; see `time_source`
  std::vector<rail_plan> plans_;
  const temper temper_;
  dice dice_;
  base::atomic<std::uint64_t> now_ns_{1'000'000'000};  // not 0, which means "never" in places
  const base::clock clock_;
  bool running_out_ = false;
  std::vector<std::unique_ptr<connection>> connections_;  // by rail, lower and higher process
  std::vector<std::uint64_t> interface_free_ns_;          // by rail and process
  std::vector<processes::process_id> names_;
  std::map<processes::process_id, std::uint32_t> numbers_;  // the same the other way round
  std::vector<driver*> drivers_;                            // likewise
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
