#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "runtime/instance.hpp"

/// MPI-5.0 chapter 15, the tool information interface (MPI_T): what its parts have in common.
///
/// Control variables are the settings (base/tunable.hpp), performance variables the counters
/// (runtime/counters.hpp), event types those of base/event_type.hpp. Nothing is counted or raised
/// for this interface alone: it reads what there is.
/// Threads:  every call any thread; one lock, which no message takes.
namespace headway::mpi::tools {

/// Guards every table of the interface. It is not held while a callback of the program runs.
extern base::mutex lock;

/// Holds the lock in a call of the interface. At its end it calls the callbacks of the program that
/// wait for a thread of the program (event_delivery.hpp).
class HEADWAY_SCOPED_CAPABILITY section {
 public:
  section() HEADWAY_ACQUIRE(lock) { lock.lock(); }
  ~section() HEADWAY_RELEASE();
  section(const section&) = delete;
  section& operator=(const section&) = delete;
};

/// Whether MPI_T_init_thread was called more often than MPI_T_finalize.
[[nodiscard]] bool is_open() HEADWAY_REQUIRES(lock);
/// The instance whose counters are read; null before MPI starts and after it has ended.
[[nodiscard]] runtime::instance* counted() noexcept HEADWAY_REQUIRES(lock);

/// MPI starts: counters are read from this instance.
void begin_counting(runtime::instance& from);
/// MPI ends: keeps the last value of every counter.
void end_counting();

/// `return fail(…)` for a call before MPI_T_init_thread.
[[nodiscard]] int refuse_closed();
/// `return fail(…)` where an argument must not be null.
[[nodiscard]] int refuse_null();

/// Returns a text as every call of the interface does: `*length` is the room in `to`, and then the
/// length that was written or, without room, would be, the final zero included. Either may be null.
void give_text(std::string_view text, char* to, int* length) noexcept;

/// Sets a result that the caller may not want: null.
template <class T>
void give(T* result, std::type_identity_t<T> value) noexcept {
  if (result != nullptr) *result = value;
}

/// The objects behind a kind of handle. A handle is a number that is not used a second time, so
/// that one that was freed is always detected.
/// Threads:  one at a time.
template <class T, class Handle>
class handle_table {
 public:
  [[nodiscard]] Handle add(std::shared_ptr<T> what) {
    next_ += step;
    entries_.emplace(next_, std::move(what));
    return reinterpret_cast<Handle>(next_);
  }
  /// Null: there is no such handle.
  [[nodiscard]] std::shared_ptr<T> find(Handle handle) const {
    const auto found = entries_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == entries_.end() ? nullptr : found->second;
  }
  /// What the handle referred to; null: there was no such handle.
  std::shared_ptr<T> remove(Handle handle) {
    const auto found = entries_.extract(reinterpret_cast<std::uintptr_t>(handle));
    return found ? std::move(found.mapped()) : nullptr;
  }
  /// Removes all, and returns them: their destructors may call the program.
  [[nodiscard]] std::unordered_map<std::uintptr_t, std::shared_ptr<T>> take_all() {
    return std::exchange(entries_, {});
  }
  [[nodiscard]] const std::unordered_map<std::uintptr_t, std::shared_ptr<T>>& all() const noexcept {
    return entries_;
  }

 private:
  static constexpr std::uintptr_t step = 16;  // above the constants of the ABI
  std::uintptr_t next_ = 0;
  std::unordered_map<std::uintptr_t, std::shared_ptr<T>> entries_;
};

}  // namespace headway::mpi::tools
