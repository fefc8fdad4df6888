#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/event_type.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/tools/interface.hpp"

namespace headway::mpi::tools {

/// One event, as a callback sees it.
struct event_instance {
  const base::event_type* what;
  base::event_type::values with;
  std::uint64_t at_ns;
};

/// The event types, sorted by name. The list does not change.
[[nodiscard]] std::span<base::event_type* const> event_types();

/// A registration for one event type: up to one callback for each level of callback safety.
///
/// An event is observed inside the library, by whichever thread makes progress. A callback that is
/// thread-safe is called there and then. For another one the event waits, with its time, until a
/// thread of the program calls MPI_T or has slept in a wait; such callbacks are called one at a
/// time.
/// Shape:    `waiting_max` events wait, over all registrations; later ones are dropped and counted.
/// Threads:  any. No lock is held while a callback runs. What a callback causes in its own thread
///           waits too.
class event_registration {
 public:
  static constexpr std::size_t waiting_max = 1024;

  explicit event_registration(base::event_type& what) noexcept : what_(what) {}
  /// Calls the callback that MPI_T_event_handle_free was given: no event is on its way any more.
  ~event_registration();
  event_registration(const event_registration&) = delete;
  event_registration& operator=(const event_registration&) = delete;

  struct callback {
    MPI_T_event_cb_function* function = nullptr;
    void* user_data = nullptr;
  };
  struct last_callback {
    MPI_T_event_free_cb_function* function = nullptr;
    void* user_data = nullptr;
  };

  [[nodiscard]] base::event_type& what() const noexcept { return what_; }
  void name(MPI_T_event_registration handle) noexcept { handle_ = handle; }
  void set(MPI_T_cb_safety level, const callback& to) noexcept;
  [[nodiscard]] bool has(MPI_T_cb_safety level) const noexcept;
  void set_dropped(MPI_T_event_dropped_cb_function* to) noexcept;
  /// The handle is freed: no callback begins any more.
  void end(const last_callback& last) noexcept;

  [[nodiscard]] bool has_callback() const noexcept;
  /// Calls the callback that may be called by any thread. False: there is none.
  [[nodiscard]] bool call_at_once(const event_instance& one) const noexcept;
  /// Calls the callback of the lowest level, from a thread of the program that holds no lock.
  void call_from_program(const event_instance& one) const noexcept;
  void count_dropped() noexcept;
  void report_dropped() noexcept;

 private:
  static constexpr std::size_t level_count = 4;
  [[nodiscard]] static std::size_t place_of(MPI_T_cb_safety level) noexcept;
  /// The first callback from this level up.
  [[nodiscard]] callback first_from(std::size_t place) const noexcept;

  base::event_type& what_;
  MPI_T_event_registration handle_ = nullptr;
  mutable base::spinlock lock_;
  std::array<callback, level_count> callbacks_ HEADWAY_GUARDED_BY(lock_);
  MPI_T_event_dropped_cb_function* dropped_ HEADWAY_GUARDED_BY(lock_) = nullptr;
  last_callback last_ HEADWAY_GUARDED_BY(lock_);
  base::atomic<std::uint64_t> dropped_count_{0};  // relaxed: a count
};

[[nodiscard]] bool is_safety_level(MPI_T_cb_safety level) noexcept;

/// From now on the registration sees events of its type / does not any more.
void begin_delivery(const std::shared_ptr<event_registration>& to) HEADWAY_REQUIRES(lock);
void end_delivery(const std::shared_ptr<event_registration>& to) HEADWAY_REQUIRES(lock);

/// The event that this handle refers to, for the callback that was given it; null: none.
[[nodiscard]] const event_instance* find_instance(MPI_T_event_instance handle) noexcept;

/// Calls the callbacks of events that wait. By a thread of the program, without locks.
void deliver_waiting() noexcept HEADWAY_EXCLUDES(lock);

/// Frees every registration, without a callback.
void free_registrations() HEADWAY_EXCLUDES(lock);

}  // namespace headway::mpi::tools
