#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "progress/background/event_source.hpp"
#include "progress/completion/completion.hpp"
#include "progress/core/ltask.hpp"
#include "progress/core/settings.hpp"
#include "topology/machine.hpp"

namespace headway::progress {

class polling_points;
class task_queue;
class wait_set;

/// Counters since the engine started. Each is exact, but not all are of the same moment.
struct engine_statistics {
  std::uint64_t explicit_rounds = 0;    ///< visits of a queue with something in it, from calls …
  std::uint64_t background_rounds = 0;  ///< … and from background threads
  std::uint64_t hits = 0;               ///< visits in which something advanced
  std::uint64_t runs = 0;               ///< of ltask bodies
  std::uint64_t skips = 0;              ///< visits that found the mask taken
  std::uint64_t sleeps = 0;             ///< of waiting threads, on their futex
  std::uint64_t kernel_sleeps = 0;      ///< of waiting threads, on the event sources
  std::uint64_t hand_overs = 0;      ///< wait leaders that woke another thread and stopped leading
  std::uint64_t event_looks = 0;     ///< timed wake-ups of the event thread
  std::uint64_t attended_looks = 0;  ///< of other pollers that found the queues attended
  std::uint64_t event_sleeps = 0;    ///< of the event thread, on the event sources
  std::uint64_t quiet_sleeps = 0;    ///< of background threads, until something is pending
  std::uint64_t parked_sleeps = 0;   ///< of the event thread, on event sources that are not armed
  std::uint64_t armings = 0;         ///< of these sources, by a thread that started something
  std::uint64_t lifts = 0;           ///< of threads that lost the processor in a round
  std::uint64_t spare_spells = 0;    ///< of `auto` polling on a spare processor …
  std::uint64_t spare_withdrawals = 0;  ///< … and how often it was not spare any more
  std::uint64_t idle_rests = 0;         ///< of idle pollers on whose core a bound thread computes
  std::uint64_t demotions = 0;          ///< of a real-time event thread that has used up its time
  std::uint64_t delays = 0;  ///< looks at which a waiting thread had lost a fifth of its time
};

/// The same for one queue; the times only if threads are metered (progress/core/meter.hpp).
struct queue_statistics {
  std::string place;
  std::uint64_t explicit_rounds = 0, background_rounds = 0, hits = 0, runs = 0, skips = 0;
  std::uint64_t masked_ns = 0;        ///< spent under the mask
  std::uint64_t longest_wait_ns = 0;  ///< of an ltask, from submission to its first run
};

/// When a wait has looked at its engine's clock.
struct clock_looks {
  std::uint64_t first_ns = 0;  ///< about a microsecond after it began; 0: it never looked
  std::uint64_t last_ns = 0;   ///< UINT64_MAX: the thread has slept or let others run
};

/// Background threads that could run an ltask at once, on a processor that is otherwise unused.
struct spare_hands {
  int idle = 0;
  std::uint64_t wake_ns = 0;  ///< recent latency until such a thread runs
};

/// Runs ltasks at polling points, and lets threads wait.
///
/// One class although it has more functions than most: each forwards to the part that implements it
/// (engine_core.hpp), and users have one object.
/// Threads:  every function any thread, unless stated otherwise.
/// Progress: see each function. Background threads are quiet when nothing is pending, and skip
///           queues that a waiting thread polls.
/// Errors:   a wait or a poll from the body of an ltask aborts with its name. With a virtual clock
///           only polling works: waits that would sleep and background threads abort.
/// Source:   pioman15, thread09, thread-or-not08 (docs/papers.md, mechanisms 1-11).
class engine {
 public:
  /// `processes_on_node`: those of this job that share this machine's processors, this one
  /// included.
  [[nodiscard]] static base::result<std::unique_ptr<engine>> start(const topology::machine& machine,
                                                                   const settings& chosen = {},
                                                                   int processes_on_node = 1,
                                                                   base::clock clock = {});
  /// Stops and joins the background threads. No ltask may be submitted afterwards.
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  [[nodiscard]] const settings& chosen() const noexcept;
  [[nodiscard]] base::clock clock() const noexcept;

  /// Queues `task` at the root of the machine (any thread may run it). Lock-free; never waits.
  void submit(ltask& task) noexcept;
  /// The same at the calling thread's own core.
  void submit_here(ltask& task) noexcept;
  /// The same at any place.
  void submit_at(topology::place_id place, ltask& task) noexcept;
  /// The same at the root; a background thread runs it soon, even if other threads poll now and
  /// then.
  void submit_to_background(ltask& task) noexcept;
  /// Queues a repeat ltask at the root and wakes no thread: its work is signalled by an event
  /// source. It may have been signalled before: the caller looks, and calls `look_now` if there is
  /// some.
  void submit_signalled(ltask& task) noexcept;
  /// Has queued ltasks run soon that may have work which no event source will signal any more:
  /// makes a polling round, inside an ltask after the one under way.
  void look_now() noexcept;
  /// What is pending needs a background thread for everything that arrives, also for what can wait
  /// (`rails::packet`), until `rely_no_more`.
  void rely() noexcept;
  void rely_no_more() noexcept;
  /// The threads that could run what the calling thread gives to `submit_to_background`, at the
  /// same time as it: at most one, because a queue's ltasks run one after the other. None inside a
  /// round.
  [[nodiscard]] progress::spare_hands spare_hands() const noexcept;
  /// Takes `task` back; returns when it neither runs nor is queued. Not inside an ltask.
  /// True: it was taken back before its end.
  bool cancel(ltask& task) noexcept;

  /// `defer` has this function called by the next thread that polls, sleeps in a wait or has waited
  /// for some microseconds (deferred_work.hpp). Set it while no other thread uses the engine.
  void set_deferred(void (*what)(void*) noexcept, void* argument) noexcept;
  void defer() noexcept;
  /// The job's ranks on this node are as many as the processors, or more: every processor has one
  /// that computes.
  [[nodiscard]] bool ranks_fill_node() const noexcept;

  /// Whether computing threads want more processors than there are, as far as is known: a hint.
  [[nodiscard]] bool threads_want_processors() const noexcept;

  /// One explicit polling round from this thread's leaf to the root. True if something advanced.
  bool poll() noexcept;
  /// The same over every queue, and the ticks if they are due: for a scheduler's clock.
  bool poll_everywhere() noexcept;

  /// Returns when `what` is complete: spins with polling, then sleeps, according to the settings.
  /// The result says how long that took, as far as it is known without looking at the clock for it.
  [[gnu::hot]] clock_looks wait(completion& what) noexcept;
  /// The same, at most until `deadline_ns` on this engine's clock. False: not complete by then.
  [[nodiscard]] bool wait_until(completion& what, std::uint64_t deadline_ns) noexcept;
  /// Returns the index of one that is complete when there is one. Null entries are skipped.
  [[nodiscard]] std::size_t wait_any(std::span<completion* const> any) noexcept;
  /// The same, at most until `deadline_ns`; nothing: none is complete by then.
  [[nodiscard]] std::optional<std::size_t> wait_any_until(std::span<completion* const> any,
                                                          std::uint64_t deadline_ns) noexcept;

  /// Something that needs background progress began (`started`) or ended. While the balance is
  /// positive the engine is not quiet. One atomic addition; wakes the event thread from its quiet
  /// sleep if needed.
  void pending_started() noexcept;
  /// The same in two steps, for a caller that holds a lock: `counted` under it, then `told` without
  /// it, which may make a system call and let another thread run.
  void pending_counted() noexcept;
  void pending_told() noexcept;
  /// Something began that counts together with one that has `started` and not ended.
  void pending_joined() noexcept;
  void pending_ended() noexcept;
  /// The balance, sleeping threads, and ltasks that have not run; those of a queue that no round
  /// has visited count as one.
  [[nodiscard]] std::uint32_t pending() const noexcept;

  /// Whether the calling thread may spin for some tens of microseconds on what another process
  /// writes into memory, without polling: nothing of this process waits for progress, no other
  /// thread of it spins like that, and no computing thread wants the processor. A wait notices the
  /// write as soon, but it is pending: background threads begin to watch, and where each processor
  /// has a rank they take one from a rank. True: `end_lone_spin` must follow. A hint; never waits.
  [[nodiscard]] bool begin_lone_spin() noexcept;
  void end_lone_spin() noexcept;

  /// True: at most one thread of this process waits at a time, as in a program whose MPI thread
  /// level is below MPI_THREAD_MULTIPLE. A wait then spins longer before it sleeps, because no
  /// other thread of the process is woken that needs the processor. At first: false. A hint; any
  /// thread; never waits.
  void expect_one_waiter(bool one) noexcept;
  [[nodiscard]] bool expects_one_waiter() const noexcept;  ///< as set last; any thread

  /// `add_source`: `source` may wake sleeping threads from now on; `remove_source`: no longer.
  /// Takes a mutex.
  void add_source(event_source& source);
  void remove_source(event_source& source);
  /// Something must be polled that no source signals: while there is such work, no thread sleeps
  /// for longer than HEADWAY_TIMER_US. One atomic addition.
  void blind_started() noexcept;
  void blind_ended() noexcept;
  /// Calls `tick(argument)` from any thread about every 33 ms, or at every n-th of these times,
  /// while something is pending, also while every thread sleeps: for time limits and the health of
  /// peers. At most 8 ticks.
  void add_tick(void (*tick)(void* argument) noexcept, void* argument, std::uint32_t every = 1);
  void remove_tick(void (*tick)(void* argument) noexcept, void* argument);

  /// The background polling points, and lending a thread.
  [[nodiscard]] polling_points& points() noexcept;
  /// An event thread runs: it runs submitted ltasks within its period.
  [[nodiscard]] bool watched() const noexcept;

  [[nodiscard]] engine_statistics statistics() const noexcept;
  /// Of each queue, the root first.
  [[nodiscard]] std::vector<queue_statistics> queues() const;

  /// With coarse locking, held around a call into a module above. May be nested.
  void enter() noexcept;
  void leave() noexcept;

 private:
  struct parts;
  void put(task_queue& queue, ltask& task) noexcept;
  void submit_to(task_queue& queue, ltask& task) noexcept;
  [[nodiscard]] bool wait_for(wait_set& set, std::uint64_t deadline_ns) noexcept;
  explicit engine(std::unique_ptr<parts> made);
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::progress
