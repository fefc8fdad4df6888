#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "collectives/node_wait.hpp"
#include "processes/process.hpp"
#include "progress/core/engine.hpp"
#include "rails/shm_slots.hpp"
#include "windows/epoch_counter.hpp"
#include "windows/operation.hpp"

namespace headway::windows {

class slot_service;
class target;

/// Fences, posts and completions between processes of a node: counters in memory that they share,
/// instead of messages.
/// Shape:    for each rank three counters that it tells this one, and how often it is expected to
///           have. A rank on another node, and this one, has none.
/// Threads:  one at a time what begins and ends accesses (`expect_post`, `await_posts`,
///           `tell_complete`), and what lets others in (`tell_post`, `expect_complete`,
///           `await_completes`, `has_completes`). `meet` while none of these is called.
/// Progress: `meet` and the functions that await look for about a microsecond, and serve this
///           process's slots meanwhile; then, with more ranks than processors at once, they wait
///           at the engine.
/// Errors:   `lost`: a process of the window is gone.
class epoch_signals {
 public:
  /// More ranks on a node than that use messages: each rank reads a counter of every other one, and
  /// every two ranks have a pair of them.
  static constexpr std::size_t ranks_max = 64;

  struct peer {
    processes::peer_id process{};
    const epoch_counter* fences = nullptr;  ///< that it has come to
    const epoch_pair* from = nullptr;       ///< null: there are no counters
    epoch_pair* to = nullptr;
  };
  struct parts {
    rails::shm_slots& memory;  ///< wakes the others
    progress::engine& engine;
    epoch_counter& own_fences;
    std::vector<peer> peers;  ///< by rank
    bool oversubscribed = false;
    const target& losses;
    slot_service* own_slots = nullptr;  ///< null: there are none
  };
  /// All that it refers to outlives it.
  explicit epoch_signals(parts made);

  /// Whether these processes, this one among them, can be woken in this way. `memory` may be null.
  [[nodiscard]] static bool can_wake(rails::shm_slots* memory,
                                     std::span<const processes::peer_id> all) noexcept;

  /// Whether `meet` may be used.
  [[nodiscard]] bool reach_all() const noexcept { return reach_all_; }
  [[nodiscard]] bool reach(int rank) const noexcept { return at(rank).to != nullptr; }

  /// Returns when all ranks have called it as often.
  [[nodiscard]] status meet() noexcept;

  // Of ranks that are reached.
  void expect_post(int rank);
  [[nodiscard]] status await_posts() noexcept;
  void tell_complete(int rank) noexcept;
  void tell_post(int rank) noexcept;
  void expect_complete(int rank);
  /// Whether `await_completes` would not wait.
  [[nodiscard]] bool has_completes() const noexcept;
  [[nodiscard]] status await_completes() noexcept;

 private:
  /// What a thread waits for, and how often each has to be told.
  class expected final : collectives::node_wait {
   public:
    expected(const char* name, const parts& of);
    void add(const epoch_counter& what, std::uint64_t times) { all_.push_back({&what, times}); }
    [[nodiscard]] bool is_there() const noexcept override;
    /// Waits for all of them, of which there are none afterwards.
    [[nodiscard]] status await() noexcept;

   private:
    struct one {
      const epoch_counter* what;
      std::uint64_t times;
    };
    [[nodiscard]] bool is_over() noexcept override;
    const parts& of_;
    std::vector<one> all_;
  };
  /// How often a rank has told this one, once all that is expected has been awaited.
  struct times {
    std::uint64_t posts = 0, completes = 0;
  };
  [[nodiscard]] const peer& at(int rank) const noexcept {
    HEADWAY_DEBUG_ASSERT(0 <= rank && static_cast<std::size_t>(rank) < of_.peers.size());
    return of_.peers[static_cast<std::size_t>(rank)];
  }
  void wake(int rank) noexcept { of_.memory.wake(at(rank).process, false); }

  const parts of_;
  const bool reach_all_;
  std::vector<times> times_;  // by rank
  expected fences_, posts_, completes_;
};

}  // namespace headway::windows
