#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "base/clock.hpp"

namespace headway::progress {

enum class round_kind : std::uint8_t;

/// An entry of a thread's timeline: a period, or the begin or end of something that another thread
/// may end.
struct happening {
  enum class sort : std::uint8_t { stretch, begin, end };
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint64_t id = 0;         ///< of `begin` and `end`: equal for the two of a pair
  std::uint64_t bytes = 0;      ///< 0 if not applicable
  std::array<char, 39> name{};  ///< cut off if it is longer
  sort what = sort::stretch;
};

/// Counts and times what a thread does for the engines of the process.
///
/// Threads have meters only after `switch_on`; others pay for a test of a null pointer in each
/// round and read no clock. Times are those of the machine's clock, whatever clock an engine has.
/// Shape:    a kilobyte; with a timeline, as many entries as `switch_on` was told; later ones are
///           dropped and counted. A thread that ends gives its meter to the next new one, unless
///           it has a timeline.
/// Threads:  written by its own thread, read by any. Counters are relaxed: they carry no data. The
///           length of a timeline is the edge (T): entries below it never change again.
/// Progress: never waits; `note` allocates nothing.
class meter {
 public:
  using counter = base::atomic<std::uint64_t>;
  struct by_kind {
    counter rounds{0}, hits{0}, skips{0}, busy_ns{0}, masked_ns{0}, longest_wait_ns{0};
  };

  /// The calling thread's new meter, or nullptr before `switch_on`. Cold.
  [[nodiscard]] static meter* take() noexcept;
  /// To be called when its thread ends.
  void leave() noexcept;
  /// From now on the calling thread and new ones have meters, with timelines of so many entries, if
  /// not 0. To be called before an engine runs whose threads are to be metered; cannot be undone.
  static void switch_on(std::size_t timeline_entries = 0);
  /// Relaxed: set before the first thread has a meter.
  [[nodiscard]] static bool on() noexcept { return on_.load(std::memory_order_relaxed); }

  static void bump(counter& c, std::uint64_t by = 1) noexcept {
    c.store(c.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  void round(round_kind kind, bool advanced, bool skipped, std::uint64_t began_ns) noexcept;
  /// Marks a background thread's round: messages that arrive in it arrive in the background.
  [[nodiscard]] bool in_background() const noexcept { return in_background_; }
  void enter_round(round_kind kind) noexcept;
  /// In such a round, the mask of a queue was held for so long, …
  void under_mask(round_kind kind, std::uint64_t for_ns) noexcept;
  /// … and in the current round an ltask ran that had waited for so long.
  void ran_after(std::uint64_t wait_ns) noexcept;

  [[nodiscard]] bool has_timeline() const noexcept { return entries_ != nullptr; }
  void note(happening::sort what, const char* name, std::uint64_t begin_ns, std::uint64_t end_ns,
            std::uint64_t id = 0, std::uint64_t bytes = 0) noexcept;

  std::array<by_kind, 2> rounds;  ///< by round_kind
  counter waits{0}, waited_ns{0}, sleeps{0}, slept_ns{0};

  /// A copy for other threads.
  struct report {
    struct of_kind {
      std::uint64_t rounds = 0, hits = 0, skips = 0, busy_ns = 0;
      std::uint64_t masked_ns = 0;        ///< part of it, under the mask of a queue
      std::uint64_t longest_wait_ns = 0;  ///< of an ltask that it ran, from submission to first run
      void add(const of_kind& other) noexcept;
    };
    std::string name;  ///< of the thread
    int thread = 0;    ///< the kernel's number; 0: threads that have ended
    std::array<of_kind, 2> rounds;
    std::uint64_t waits = 0, waited_ns = 0, sleeps = 0, slept_ns = 0, dropped = 0;
  };
  /// The reports of all threads with a meter, and of those that have ended: background threads
  /// summed by name, all others in one.
  [[nodiscard]] static std::vector<report> all();

  struct timeline {
    std::string name;
    int thread = 0;
    std::uint64_t dropped = 0;
    std::vector<happening> entries;
  };
  [[nodiscard]] static std::vector<timeline> timelines();

 private:
  struct registry;
  static registry& everyone();
  void begin(std::size_t timeline_entries);
  [[nodiscard]] report read() const;

  static inline base::atomic<bool> on_{false};

  std::string name_;
  int thread_ = 0;
  bool in_background_ = false;
  bool ended_ = false;  // guarded by the registry's lock, as name_ and thread_ once `all` sees it
  std::unique_ptr<happening[]> entries_;
  std::size_t entries_max_ = 0;
  base::atomic<std::size_t> length_{0};
  counter dropped_{0};
};

/// Notes in the calling thread's timeline the begin or end of something that another thread may
/// end: `id` is the same for both, and unique among those of that name meanwhile.
void note_now(happening::sort what, const char* name, const void* id, std::uint64_t bytes) noexcept;
inline void note_begin(const char* name, const void* id, std::uint64_t bytes) noexcept {
  if (meter::on()) [[unlikely]]
    note_now(happening::sort::begin, name, id, bytes);
}
inline void note_end(const char* name, const void* id, std::uint64_t bytes) noexcept {
  if (meter::on()) [[unlikely]]
    note_now(happening::sort::end, name, id, bytes);
}

/// Adds the duration of a block of the calling thread to `meter::*times` and `*total_ns`, if it is
/// metered.
/// Threads:  one, during a block.
class stretch {
 public:
  stretch(meter* of, const char* name, meter::counter meter::* times,
          meter::counter meter::* total_ns) noexcept
      : of_(of),
        name_(name),
        times_(times),
        total_(total_ns),
        began_ns_(of ? base::machine_now_ns() : 0) {}
  ~stretch() {
    if (of_) [[unlikely]]
      end(*of_, name_, times_, total_, began_ns_);
  }
  stretch(const stretch&) = delete;
  stretch& operator=(const stretch&) = delete;

 private:
  /// Stored by value, so that the object of a thread without a meter is never written.
  [[gnu::noinline]] static void end(meter& of, const char* name, meter::counter meter::* times,
                                    meter::counter meter::* total, std::uint64_t began_ns) noexcept;

  meter* of_;
  const char* name_;
  meter::counter meter::* times_;
  meter::counter meter::* total_;
  std::uint64_t began_ns_;
};

}  // namespace headway::progress
