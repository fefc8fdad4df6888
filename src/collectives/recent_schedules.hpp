#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "collectives/schedule_cache.hpp"
#include "collectives/settings.hpp"

namespace headway::collectives {

/// The arguments of a collective call. Two equal keys mean equal steps: the caller uses keys only
/// for types and operators that cannot be freed while the communicator lives.
struct call_key {
  collective what;
  bool neighbors = false;  ///< the neighbourhood collective of that name
  int root = 0;
  const void* send = nullptr;
  const void* receive = nullptr;
  std::int64_t count = 0;
  const void* type = nullptr;
  std::int64_t send_count = 0;  ///< with its type, where both buffers have one
  const void* send_type = nullptr;
  const void* op = nullptr;

  bool operator==(const call_key&) const = default;
};

/// The schedules of a communicator's last calls, blocking or not: programs repeat their calls, and
/// running a schedule again costs a third of making it (8-byte allreduce on 2 ranks: 423 of 1373
/// instructions without its messages, counted by callgrind).
/// Shape:    `slot_count` schedules with their memory; small messages only. While a schedule is
///           under way, a second call makes another one.
/// Threads:  `take` and `forget` one at a time, as collectives on a communicator are; a lease may
///           end on any thread, and must before this object does.
class recent_schedules {
 private:
  struct slot {
    call_key key = {};
    std::uint64_t epoch = 0;
    schedule_ptr steps = nullptr;  // null: the other members are invalid
    // Hazard: a slot is taken again while the schedule is under way, or the lease's end changes it.
    // Edge:   (L) the lease's end, release -> (T) `take`, acquire.
    std::atomic<bool> leased{false};
  };

 public:
  /// Above this, the messages cost so much more than the steps that freeing the memory is better.
  static constexpr std::int64_t bytes_max = 8 * 1024;

  /// A schedule for one call, until it is complete. The destructor returns it.
  class lease {
   public:
    /// A new one, for a call that is not kept.
    lease() : steps_(new_schedule().release()) {}
    lease(lease&& other) noexcept
        : steps_(std::exchange(other.steps_, nullptr)),
          from_(other.from_),
          built_(other.built_),
          spoilt_(other.spoilt_) {}
    lease& operator=(lease&&) = delete;
    ~lease();

    /// Whether it holds the steps of an equal call.
    [[nodiscard]] bool is_built() const noexcept { return built_; }
    /// Building or running it failed: it is not used again.
    void discard() noexcept { spoilt_ = true; }
    schedule_run* operator->() const noexcept { return steps_; }
    schedule_run& operator*() const noexcept { return *steps_; }

   private:
    friend class recent_schedules;
    lease(slot& from, bool built) noexcept
        : steps_(from.steps.get()), from_(&from), built_(built) {}

    schedule_run* steps_;
    slot* from_ = nullptr;  // null: from the thread's cache
    bool built_ = false;
    bool spoilt_ = false;
  };

  [[nodiscard]] lease take(const call_key& key);
  /// Schedules made before now are not used again: the meaning of keys has changed.
  void forget() noexcept { ++epoch_; }

 private:
  static constexpr std::size_t slot_count = 8;
  [[nodiscard]] slot& slot_of(const call_key& key) noexcept {
    auto mixed = reinterpret_cast<std::uintptr_t>(key.send) / 8 * 31 +
                 reinterpret_cast<std::uintptr_t>(key.receive) / 8 * 7 +
                 static_cast<std::uintptr_t>(key.count) + static_cast<std::uintptr_t>(key.what) +
                 static_cast<std::uintptr_t>(key.root);
    return slots_[mixed % slot_count];
  }

  std::array<slot, slot_count> slots_;
  std::uint64_t epoch_ = 0;
};

}  // namespace headway::collectives
