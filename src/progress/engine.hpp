#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "base/result.hpp"
#include "progress/completion.hpp"
#include "progress/event_source.hpp"
#include "progress/ltask.hpp"
#include "topology/machine.hpp"

namespace headway::progress {

class task_queue;
class wait_set;

/// Which background polling points run. Explicit polling (inside waits and tests) always does.
enum class polling : std::uint8_t {
  off,        ///< none: messages move inside waits and tests only
  explicit_,  ///< none, but every call that polls may also be made by the application at will
  timer,      ///< a thread that wakes at a period
  idle,       ///< low-priority threads on cores with nothing else to do
  event,      ///< a thread that sleeps in the kernel on the event sources
  automatic,  ///< the engine chooses: events, the timer as floor where a source cannot wake us
};

/// One background polling point, to be turned on and off by itself.
enum class polling_point : std::uint8_t { event, timer, idle };

/// How a wait passes its time before it sleeps.
enum class waiting_policy : std::uint8_t {
  adaptive,  ///< spins about twice as long as recent waits took, hardly when they took long
  fixed,     ///< spins HEADWAY_SPIN_US
  busy,      ///< never sleeps
  block,     ///< polls once, then sleeps
};

/// What HEADWAY_PROGRESS and HEADWAY_WAIT ask for.
[[nodiscard]] polling polling_from_environment();
[[nodiscard]] waiting_policy waiting_from_environment();
[[nodiscard]] bool greatest_weight_from_environment();

/// What keeps threads out of each other's way.
/// Source: thread09 (mechanism 10): what locking costs is one of that paper's questions.
enum class locking : std::uint8_t {
  none,    ///< nothing: one thread uses the library, and there are no background threads
  coarse,  ///< one lock around each call and each polling round
  fine,    ///< a mask for each queue; whoever finds it taken goes on
};
[[nodiscard]] locking locking_from_environment();

/// Whether the start of a message is left to another core (mechanism 12).
enum class offloading : std::uint8_t {
  inline_,  ///< who starts it sends it
  notify,   ///< a thread of ours is told to
  idle,     ///< an idle poller finds it
};
[[nodiscard]] offloading offloading_from_environment();

struct engine_options {
  polling points = polling::automatic;
  /// Processes of this job that share this machine's processors with us, ourselves included.
  int processes_on_node = 1;
  waiting_policy waits = waiting_from_environment();
  /// Of a thread that sleeps in a wait among computing ones, where the kernel permits it.
  bool greatest_weight = greatest_weight_from_environment();
  locking locks = locking_from_environment();
};

/// What happened since the engine started. Cheap counters, each exact, no common moment.
struct engine_statistics {
  std::uint64_t explicit_rounds = 0;    ///< visits of a queue with something in it, from calls …
  std::uint64_t background_rounds = 0;  ///< … and from our own threads
  std::uint64_t hits = 0;               ///< visits in which something advanced
  std::uint64_t runs = 0;               ///< of ltask bodies
  std::uint64_t skips = 0;              ///< visits that found the mask taken
  std::uint64_t sleeps = 0;             ///< of waiting threads, on their futex
  std::uint64_t guard_sleeps = 0;       ///< of waiting threads, on the event sources
  std::uint64_t hand_overs = 0;         ///< leads given up to a thread that was woken
  std::uint64_t event_looks = 0;        ///< timed wake-ups of the event thread
  std::uint64_t attended_looks = 0;     ///< of other pollers of ours, who then stayed away
  std::uint64_t event_sleeps = 0;       ///< of the event thread, on the event sources
  std::uint64_t quiet_sleeps = 0;       ///< of our threads, until something is pending
  std::uint64_t lifts = 0;              ///< of threads that lost the processor in a round
  std::uint64_t spare_spells = 0;       ///< of `auto` polling on a spare processor …
  std::uint64_t spare_withdrawals = 0;  ///< … and how often it was not spare any more
  std::uint64_t idle_rests = 0;         ///< of idle pollers whose core a bound thread computes on
  std::uint64_t demotions = 0;          ///< of a real-time event thread that used up its time
  std::uint64_t delays = 0;  ///< looks at which a waiting thread had lost a fifth of its time
};

/// The same of one queue, and what is timed only where HEADWAY_STATS asks (progress/meter.hpp).
struct queue_statistics {
  std::string place;
  std::uint64_t explicit_rounds = 0, background_rounds = 0, hits = 0, runs = 0, skips = 0;
  std::uint64_t masked_ns = 0;        ///< spent under the mask
  std::uint64_t longest_wait_ns = 0;  ///< of an ltask, from submission to its first run
};

/// Threads of ours that could take up an ltask at once on a processor that nobody else wants.
struct spare_hands {
  int idle = 0;
  std::uint64_t wake_ns = 0;  ///< what it took recently until one of them ran
};

/// Runs ltasks at polling points, and lets threads wait.
///
/// Threads:  every function any thread, unless it says otherwise.
/// Progress: see each function. Background threads obey ARCHITECTURE section 3: quiet when nothing
///           is pending, hands off queues that a waiting thread polls.
/// Source:   pioman15, thread09, thread-or-not08 (PAPERS.md mechanisms 1-11).
class engine {
 public:
  [[nodiscard]] static base::result<std::unique_ptr<engine>> start(const topology::machine& machine,
                                                                   const engine_options& options);
  /// Stops and joins the background threads. No ltask may be submitted any more.
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Queues `task` at the root of the machine (anyone may run it). Lock-free; never waits.
  void submit(ltask& task) noexcept;
  /// The same at the calling thread's own core.
  void submit_here(ltask& task) noexcept;
  /// The same at any place.
  void submit_at(topology::place_id place, ltask& task) noexcept;
  /// The same at the root, and a thread of ours runs it soon although others poll now and then.
  void submit_to_background(ltask& task) noexcept;
  /// Who would run what the calling thread gives to `submit_to_background`, beside it: at most one,
  /// because a queue's ltasks run one after the other. Nobody while that thread is in a round.
  [[nodiscard]] progress::spare_hands spare_hands() const noexcept;
  /// Takes `task` back and returns when it neither runs nor is queued. Not from inside an ltask.
  /// True: it was taken back before its end.
  bool cancel(ltask& task) noexcept;

  /// One explicit polling round from this thread's leaf to the root. True if something advanced.
  bool poll() noexcept;
  /// The same over every queue, and the ticks if they are due: for a scheduler's clock.
  bool poll_everywhere() noexcept;

  /// Returns when `what` is complete: spins with polling, then sleeps, as HEADWAY_WAIT says.
  [[gnu::hot]] void wait(completion& what) noexcept;
  /// The same, at most until `deadline_ns` (base::now_ns). False: not complete by then.
  [[nodiscard]] bool wait_until(completion& what, std::uint64_t deadline_ns) noexcept;
  /// Returns when at least one is complete, with its index. Null entries are passed over.
  [[nodiscard]] std::size_t wait_any(std::span<completion* const> any) noexcept;
  /// The same, at most until `deadline_ns`: then nothing.
  [[nodiscard]] std::optional<std::size_t> wait_any_until(std::span<completion* const> any,
                                                          std::uint64_t deadline_ns) noexcept;
  /// Lends the calling thread: it polls for everybody, and sleeps while nothing is pending, until
  /// `end_lending` with the same word, or `deadline_ns`. The word is 0 at first. Not from an ltask.
  void lend(base::atomic<std::uint32_t>& give_back, std::uint64_t deadline_ns) noexcept;
  void end_lending(base::atomic<std::uint32_t>& give_back) noexcept;

  /// Something that needs background progress began (`started`) or ended. While the balance is
  /// positive the engine is not quiet. One atomic addition; wakes the event thread from its quiet
  /// sleep when needed.
  void pending_started() noexcept;
  /// The same in two steps, for one who holds a lock: `counted` under it, `told`, which may be a
  /// system call and make another thread run, without it.
  void pending_counted() noexcept;
  void pending_told() noexcept;
  void pending_ended() noexcept;
  /// The balance, sleeping threads, and ltasks that have not run; those of a queue that no round
  /// has seen count as one.
  [[nodiscard]] std::uint32_t pending() const noexcept;

  /// The guard may sleep on `source` from now on / not any more. Control plane: takes a lock.
  void add_source(event_source& source);
  void remove_source(event_source& source);
  /// Something must be polled that no source tells of: while any is, nobody sleeps for longer than
  /// HEADWAY_TIMER_US. One atomic addition.
  void blind_started() noexcept;
  void blind_ended() noexcept;
  /// Calls `tick(argument)` from a thread of its own choosing about every 100 ms while something is
  /// pending, also while every thread sleeps: time limits and the health of peers. At most 8.
  void add_tick(void (*tick)(void* argument) noexcept, void* argument);
  void remove_tick(void (*tick)(void* argument) noexcept, void* argument);

  /// Background polling points on or off at run time. Not from inside an ltask or a tick.
  void set_polling(polling points);
  /// One of them on or off, whatever `set_polling` chose. Not from inside an ltask or a tick.
  void turn(polling_point point, bool on);
  [[nodiscard]] bool is_on(polling_point point) const;

  [[nodiscard]] engine_statistics statistics() const noexcept;
  /// Of each queue, the root first.
  [[nodiscard]] std::vector<queue_statistics> queues() const;

  [[nodiscard]] locking locks() const noexcept;
  /// An event thread of ours takes up, within its time, what is submitted and what is left to it.
  [[nodiscard]] bool watched() const noexcept;
  /// Under coarse locking, around what a room above does in a call. Any number of times.
  void enter() noexcept;
  void leave() noexcept;

 private:
  struct parts;
  void submit_to(task_queue& queue, ltask& task) noexcept;
  [[nodiscard]] bool wait_for(wait_set& set, std::uint64_t deadline_ns) noexcept;
  explicit engine(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::progress
