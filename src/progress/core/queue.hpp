#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/mask.hpp"
#include "base/mpsc_queue.hpp"
#include "progress/core/ltask.hpp"
#include "progress/core/taken_count.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::progress {

/// Which thread makes a round: one of the program inside a call, or a background thread.
enum class round_kind : std::uint8_t { explicit_, background };

/// The queue of one place: a lock-free submission queue and a main list under a mask.
/// Shape:    a mask's line and a submission line; ltasks bring their own links.
/// Threads:  every function any thread. Bodies run under the mask, so one at a time.
/// Progress: `visit` never waits: an empty queue costs two loads, one whose mask is taken is
///           skipped. `take_back` waits for the round under way; while it does, no other begins.
/// Errors:   an ltask that is submitted twice, or re-submitted and then not `done`: aborts with its
///           name.
/// Source:   pioman15 (mechanism 5).
class task_queue {
  // An ltask belongs to its owner while idle, to the submission queue after (P) of mpsc_queue, to
  // the mask's holder once popped. Main list, counters and `state_` after the pop belong to the
  // holder; (U) -> (L) of the mask passes them on. `main_count_` is written by the holder and read
  // by all as a hint: a poller that misses an ltask because of it comes again.
 public:
  enum class found : std::uint8_t { empty, taken, idle, advanced };
  struct outcome {
    found what = found::empty;
    std::uint32_t one_shots = 0;  ///< that were run
  };
  struct counters {
    std::uint64_t explicit_rounds = 0, background_rounds = 0, hits = 0, runs = 0, skips = 0;
    /// Only of metered threads: time under the mask; longest time of an ltask from submission to
    /// its first run.
    std::uint64_t masked_ns = 0, longest_wait_ns = 0;
  };

  task_queue() = default;
  task_queue(const task_queue&) = delete;
  task_queue& operator=(const task_queue&) = delete;
  ~task_queue();

  /// Before the first visit. True: the callers exclude each other, so the mask is not used.
  void excluded_by_others(bool yes) noexcept { masked_ = !yes; }

  void submit(ltask& task) noexcept;
  [[nodiscard]] outcome visit(thread_record& me, round_kind kind) noexcept {
    if (main_count_.load(std::memory_order_relaxed) == 0 && !has_taken()) return {};
    return visit_some(me, kind);
  }
  /// True: this queue had it, and it has not run to its end: it belongs to the caller now.
  [[nodiscard]] bool take_back(thread_record& me, ltask& task) noexcept;

  /// Something was submitted that no round has seen. seq_cst: see
  /// progress/background/kernel_sleeper.hpp.
  [[nodiscard]] bool has_submissions() const noexcept { return !submissions_.empty(); }
  /// The same, or it was seen and has not run yet. seq_cst: see progress/core/pending.hpp.
  [[nodiscard]] bool has_taken() const noexcept { return has_submissions() || taken_count_.any(); }
  /// How many; those that no round has seen count as one.
  [[nodiscard]] std::uint32_t taken_count() const noexcept {
    const std::uint32_t unseen = has_submissions() ? 1 : 0;  // first: (B) of base/mpsc_queue.hpp
    return unseen + taken_count_.count();
  }
  [[nodiscard]] base::mask::ticket holder() const noexcept { return mask_.holder(); }
  /// The number of rounds made inside calls: while it changes, the queue is attended.
  [[nodiscard]] std::uint64_t explicit_rounds() const noexcept {
    return explicit_rounds_.load(std::memory_order_relaxed);  // a count, carries no data
  }
  [[nodiscard]] counters count() const noexcept;  // relaxed: counts carry no data

 private:
  using counter = base::atomic<std::uint64_t>;  // written by the mask's holder, read by any thread
  static void bump(counter& c, std::uint64_t by = 1) noexcept {
    c.store(c.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  [[nodiscard]] bool search(thread_record& me, ltask& task) noexcept HEADWAY_EXCLUDES(mask_);
  void absorb() noexcept HEADWAY_REQUIRES(mask_);
  [[nodiscard, gnu::hot]] outcome visit_some(thread_record& me, round_kind kind) noexcept
      HEADWAY_EXCLUDES(mask_);
  struct tally {
    std::uint32_t runs = 0, kept = 0, one_shots = 0;
    bool advanced = false;
  };
  [[nodiscard]] outcome run_all(thread_record& me) noexcept HEADWAY_REQUIRES(mask_);
  [[gnu::noinline, gnu::hot]] void run_listed(thread_record& me, std::uint32_t count,
                                              tally& sum) noexcept HEADWAY_REQUIRES(mask_);
  void run_and_keep(thread_record& me, ltask& task, tally& sum) noexcept HEADWAY_REQUIRES(mask_);
  [[nodiscard]] ltask_result run_one(thread_record& me, ltask& task) noexcept
      HEADWAY_REQUIRES(mask_);
  void keep(ltask& task) noexcept HEADWAY_REQUIRES(mask_);
  void list(ltask& task, bool taken_count) noexcept HEADWAY_REQUIRES(mask_);
  [[nodiscard]] ltask* pop_listed() noexcept HEADWAY_REQUIRES(mask_);
  [[gnu::noinline]] void note_tenure(thread_record& me, round_kind kind,
                                     std::uint64_t since_ns) noexcept HEADWAY_REQUIRES(mask_);
  [[nodiscard, gnu::noinline]] ltask_result run_measured(thread_record& me, ltask& task) noexcept
      HEADWAY_REQUIRES(mask_);
  void set_count(std::uint32_t count) noexcept HEADWAY_REQUIRES(mask_) {
    main_count_.store(count, std::memory_order_relaxed);
  }

  alignas(64) base::mpsc_queue<ltask, &ltask::link_of> submissions_;
  counter skips_{0};  // the only counter that any thread writes
  [[nodiscard]] bool try_hold(thread_record& me) noexcept HEADWAY_TRY_ACQUIRE(true, mask_) {
    return masked_ ? mask_.try_lock(me.next_ticket()) : mask_.take(me.next_ticket());
  }

  alignas(64) base::mask mask_;
  bool masked_ = true;  ///< constant since the start
  /// Threads in `take_back`: no round begins meanwhile, because rounds in close succession would
  /// starve them.
  base::atomic<std::uint32_t> claims_{0};
  base::atomic<std::uint32_t> main_count_{0};
  basic_taken_count<> taken_count_;
  base::intrusive_list<ltask> main_ HEADWAY_GUARDED_BY(mask_);
  counter explicit_rounds_{0}, background_rounds_{0}, hits_{0}, runs_{0};
  counter masked_ns_{0}, longest_wait_ns_{0};  // of metered threads
};

}  // namespace headway::progress
