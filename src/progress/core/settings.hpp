#pragma once

#include <cstdint>

#include "topology/machine.hpp"

namespace headway::progress {

/// The background polling points. Explicit polling, in waits and tests, is always available.
enum class polling : std::uint8_t {
  off,        ///< none: messages move inside waits and tests only
  explicit_,  ///< none; the program calls the polling functions itself
  timer,      ///< a thread that wakes at a period
  idle,       ///< low-priority threads on cores with nothing else to do
  event,      ///< a thread that sleeps in the kernel on the event sources
  automatic,  ///< events; a time limit where a source cannot wake a thread; a spare processor
};

/// What a wait does before it sleeps.
enum class waiting_policy : std::uint8_t {
  adaptive,  ///< spins about twice as long as recent waits took, hardly at all if they took long
  fixed,     ///< spins for `spin_ns`
  busy,      ///< never sleeps
  block,     ///< polls once, then sleeps
};

/// How threads are excluded from each other.
/// Source:   thread09 (mechanism 10): the cost of locking is one of that paper's questions.
enum class locking : std::uint8_t {
  none,    ///< nothing: one thread uses the library, and there are no background threads
  coarse,  ///< one lock around each call and each polling round
  fine,    ///< a mask for each queue; a poller that finds it taken skips the queue
};

/// Which core sends after a non-blocking call (mechanism 12).
enum class offloading : std::uint8_t {
  inline_,  ///< the caller's
  notify,   ///< that of a background thread, which is notified
  idle,     ///< that of an idle poller, at its next round
};

/// The scheduling class of the event thread.
enum class event_class : std::uint8_t { normal, fifo, rr };

/// Which places of a level have an idle poller, counted from 0 in the machine's order.
enum class placing : std::uint8_t { all, first, odd, even };

/// The settings of an engine. The defaults are those of the environment variables.
struct settings {
  polling points = polling::automatic;
  waiting_policy waits = waiting_policy::adaptive;
  /// Gives a thread that sleeps in a wait among computing threads the greatest weight in the
  /// kernel's scheduler, and the event thread three times its weight, where permitted.
  bool greatest_weight = true;
  locking locks = locking::fine;
  offloading offload = offloading::inline_;
  event_class event_thread = event_class::normal;
  topology::level idle_level = topology::level::core;
  placing idle_places = placing::all;
  std::uint64_t spin_ns = 50'000;  ///< shortest spin of a wait; see spin_length.hpp
  std::uint64_t yield_ns =
      1'000'000;  ///< longest wait by yielding, with more processes than processors
  std::uint64_t timer_ns = 1'000'000;    ///< period of timer polling
  std::uint64_t idle_ns = 10'000;        ///< pause between rounds of idle polling, at first …
  std::uint64_t idle_calm_ns = 100'000;  ///< … and at most, while nothing moves
  std::uint64_t idle_slowdown = 2;       ///< factor of the pause for each calm millisecond

  /// From HEADWAY_PROGRESS, HEADWAY_WAIT and the others of tunables.cpp.
  [[nodiscard]] static settings from_environment();
  bool operator==(const settings&) const = default;
};

}  // namespace headway::progress
