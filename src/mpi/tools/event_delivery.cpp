#include "mpi/tools/event_delivery.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "progress/core/events.hpp"

namespace headway::mpi::tools {
namespace {

using registration_ref = std::shared_ptr<event_registration>;
using registrations = std::vector<registration_ref>;

/// The registrations that are called for events: an immutable list, which is replaced. A thread
/// that delivers an event keeps the list that it began with, and with it the registrations in it.
base::spinlock observers_lock;  // taken under `lock`
std::shared_ptr<const registrations> observers HEADWAY_GUARDED_BY(observers_lock);

std::shared_ptr<const registrations> present_observers() {
  const base::lock_guard held(observers_lock);
  return observers;
}

/// Events that wait for a thread of the program: a ring of `waiting_max`, which the first
/// registration makes. A thread that raises an event allocates nothing.
struct waiting_event {
  registration_ref to;
  event_instance one;
};
constexpr auto waiting_max = event_registration::waiting_max;
base::spinlock waiting_lock;
std::unique_ptr<waiting_event[]> waiting_events HEADWAY_GUARDED_BY(waiting_lock);
std::size_t first_waiting HEADWAY_GUARDED_BY(waiting_lock) = 0;  // its place in the ring
std::size_t waiting_count HEADWAY_GUARDED_BY(waiting_lock) = 0;
base::atomic<bool> some_wait{false};  // a hint: relaxed
base::mutex delivering;               // one thread at a time calls callbacks that wait

thread_local const event_instance* present = nullptr;  // the event of this thread's callback

/// For the length of a callback.
class inside_callback {
 public:
  explicit inside_callback(const event_instance& one) noexcept
      : outer_(std::exchange(present, &one)) {}
  ~inside_callback() { present = outer_; }
  inside_callback(const inside_callback&) = delete;
  inside_callback& operator=(const inside_callback&) = delete;

 private:
  const event_instance* outer_;
};

MPI_T_event_instance handle_of(const event_instance& one) noexcept {
  return reinterpret_cast<MPI_T_event_instance>(const_cast<event_instance*>(&one));
}

void keep(const registration_ref& to, const event_instance& one) {
  {
    const base::lock_guard held(waiting_lock);
    if (waiting_count < waiting_max) {
      waiting_events[(first_waiting + waiting_count++) % waiting_max] = {to, one};
      some_wait.store(true, std::memory_order_relaxed);
      return;
    }
  }
  to->count_dropped();
}

/// The observer of every event type that has a registration. What a callback causes in its own
/// thread waits, so that no callback is called inside another one.
void observe(const base::event_type& what, const base::event_type::values& with) noexcept {
  const event_instance one{.what = &what, .with = with, .at_ns = base::machine_now_ns()};
  if (const auto all = present_observers()) {
    for (const auto& each : *all) {
      if (&each->what() != &what || !each->has_callback()) continue;
      if (present != nullptr || !each->call_at_once(one)) keep(each, one);
    }
  }
  // Raised by a thread of the program, which holds no lock of the library.
  if (&what == &progress::events::wait_slept) deliver_waiting();
}

/// Before the first event is observed. One thread at a time, because it holds `lock`.
void make_waiting_ring() HEADWAY_REQUIRES(lock) {
  {
    const base::lock_guard held(waiting_lock);
    if (waiting_events) return;
  }
  auto made = std::make_unique<waiting_event[]>(waiting_max);
  const base::lock_guard held(waiting_lock);
  waiting_events.swap(made);
}

/// Observes exactly what has a registration; the sleeps of waits for every one, because then events
/// that wait can be delivered.
void replace(registrations by) HEADWAY_REQUIRES(lock) {
  for (auto* type : event_types()) {
    const bool wanted =
        std::ranges::any_of(by, [&](const auto& each) { return &each->what() == type; }) ||
        (!by.empty() && type == &progress::events::wait_slept);
    type->observe(wanted ? &observe : nullptr);
  }
  auto list = std::make_shared<const registrations>(std::move(by));
  const base::lock_guard held(observers_lock);
  observers.swap(list);
}

}  // namespace

std::span<base::event_type* const> event_types() {
  static const auto* const all = new std::vector<base::event_type*>(base::event_type::all());
  return *all;
}

bool is_safety_level(MPI_T_cb_safety level) noexcept {
  return level == MPI_T_CB_REQUIRE_NONE || level == MPI_T_CB_REQUIRE_MPI_RESTRICTED ||
         level == MPI_T_CB_REQUIRE_THREAD_SAFE || level == MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE;
}

std::size_t event_registration::place_of(MPI_T_cb_safety level) noexcept {
  switch (level) {
    case MPI_T_CB_REQUIRE_NONE:
      return 0;
    case MPI_T_CB_REQUIRE_MPI_RESTRICTED:
      return 1;
    case MPI_T_CB_REQUIRE_THREAD_SAFE:
      return 2;
    case MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE:
      break;
  }
  return 3;
}

event_registration::~event_registration() {
  if (last_.function != nullptr)
    last_.function(handle_, MPI_T_CB_REQUIRE_THREAD_SAFE, last_.user_data);
}

void event_registration::set(MPI_T_cb_safety level, const callback& to) noexcept {
  const base::lock_guard held(lock_);
  callbacks_[place_of(level)] = to;
}

bool event_registration::has(MPI_T_cb_safety level) const noexcept {
  const base::lock_guard held(lock_);
  return callbacks_[place_of(level)].function != nullptr;
}

void event_registration::set_dropped(MPI_T_event_dropped_cb_function* to) noexcept {
  const base::lock_guard held(lock_);
  dropped_ = to;
}

void event_registration::end(const last_callback& last) noexcept {
  const base::lock_guard held(lock_);
  callbacks_ = {};
  dropped_ = nullptr;
  last_ = last;
}

event_registration::callback event_registration::first_from(std::size_t place) const noexcept {
  const base::lock_guard held(lock_);
  for (; place < level_count; ++place)
    if (callbacks_[place].function != nullptr) return callbacks_[place];
  return {};
}

bool event_registration::has_callback() const noexcept { return first_from(0).function != nullptr; }

bool event_registration::call_at_once(const event_instance& one) const noexcept {
  const auto found = first_from(place_of(MPI_T_CB_REQUIRE_THREAD_SAFE));
  if (found.function == nullptr) return false;
  const inside_callback now(one);
  found.function(handle_of(one), handle_, MPI_T_CB_REQUIRE_THREAD_SAFE, found.user_data);
  return true;
}

void event_registration::call_from_program(const event_instance& one) const noexcept {
  const auto found = first_from(0);
  if (found.function == nullptr) return;
  const inside_callback now(one);
  found.function(handle_of(one), handle_, MPI_T_CB_REQUIRE_NONE, found.user_data);
}

void event_registration::count_dropped() noexcept {
  dropped_count_.fetch_add(1, std::memory_order_relaxed);
}

void event_registration::report_dropped() noexcept {
  MPI_T_event_dropped_cb_function* function = nullptr;
  {
    const base::lock_guard held(lock_);
    function = dropped_;
  }
  if (function == nullptr) return;
  const auto count = dropped_count_.exchange(0, std::memory_order_relaxed);
  if (count == 0) return;
  const event_instance none{.what = &what_, .with = {}, .at_ns = base::machine_now_ns()};
  const inside_callback now(none);
  function(static_cast<MPI_Count>(count), handle_, 0, MPI_T_CB_REQUIRE_NONE,
           first_from(0).user_data);
}

void begin_delivery(const std::shared_ptr<event_registration>& to) {
  HEADWAY_ASSERT(to != nullptr);
  make_waiting_ring();
  const auto present_list = present_observers();
  registrations more;
  if (present_list) more = *present_list;
  more.push_back(to);
  replace(std::move(more));
}

void end_delivery(const std::shared_ptr<event_registration>& to) {
  const auto present_list = present_observers();
  registrations fewer;
  if (present_list) fewer = *present_list;
  std::erase(fewer, to);
  replace(std::move(fewer));
}

const event_instance* find_instance(MPI_T_event_instance handle) noexcept {
  return present != nullptr && handle_of(*present) == handle ? present : nullptr;
}

/// The next event that waits; nothing: none does.
static std::optional<waiting_event> take_waiting() noexcept {
  const base::lock_guard held(waiting_lock);
  if (waiting_count == 0) return std::nullopt;
  HEADWAY_ASSERT(waiting_events && waiting_count <= waiting_max);
  auto next = std::move(waiting_events[first_waiting]);
  first_waiting = (first_waiting + 1) % waiting_max;
  if (--waiting_count == 0) some_wait.store(false, std::memory_order_relaxed);
  return next;
}

void deliver_waiting() noexcept {
  if (!some_wait.load(std::memory_order_relaxed) || present != nullptr) return;
  if (!delivering.try_lock()) return;  // that thread delivers
  const base::lock_guard alone(delivering, std::adopt_lock);
  // No more than can wait at once: callbacks may cause events without end.
  for (std::size_t i = 0; i < waiting_max; ++i) {
    const auto next = take_waiting();
    if (!next) return;
    next->to->report_dropped();
    next->to->call_from_program(next->one);
  }
}

}  // namespace headway::mpi::tools
