#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/atomic.hpp"

namespace headway::base {

/// A kind of change inside the library that a tool can observe as it happens: its description for
/// MPI_T, and the observer. One object of static storage in a source named `events` of its module.
/// Shape:    up to `elements_max` numbers a time.
/// Threads:  `raise` any thread; `observe` one at a time.
/// Progress: without an observer, `observed` is one relaxed load, and nothing else is done. With
///           one, `raise` takes as long as the observer does.
class event_type {
 public:
  static constexpr std::size_t elements_max = 4;
  using values = std::array<std::uint64_t, elements_max>;
  /// Called by the thread that raises the event, which may be in a polling round or hold the mask
  /// of a peer: it must not wait for a message.
  using observer = void (*)(const event_type& what, const values& with) noexcept;

  /// `name` begins with the module: "packets.rail_lost". `elements` names the numbers, in order.
  event_type(const char* name, std::initializer_list<const char*> elements, const char* why);
  ~event_type();
  event_type(const event_type&) = delete;
  event_type& operator=(const event_type&) = delete;

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] const char* why() const noexcept { return why_; }
  [[nodiscard]] std::span<const char* const> elements() const noexcept {
    return std::span(elements_).first(element_count_);
  }

  /// Relaxed: the observer is a function, and its own state is its own business.
  [[nodiscard]] bool observed() const noexcept {
    return observer_.load(std::memory_order_relaxed) != nullptr;
  }
  /// Calls the observer, if there is one. Under no lock that the observer's callers may need.
  void raise(const values& with) const noexcept {
    if (const auto call = observer_.load(std::memory_order_relaxed)) [[unlikely]]
      call(*this, with);
  }
  /// Sets the observer; null: none. A thread that is raising the event may still call the last one.
  void observe(observer by) noexcept { observer_.store(by, std::memory_order_relaxed); }

  /// Every event type of the program, sorted by name.
  [[nodiscard]] static std::vector<event_type*> all();

 private:
  const char* name_;
  const char* why_;
  std::array<const char*, elements_max> elements_{};
  std::size_t element_count_ = 0;
  atomic<observer> observer_{nullptr};
};

}  // namespace headway::base
