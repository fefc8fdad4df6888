#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/node_levels.hpp"
#include "collectives/passed_areas.hpp"
#include "collectives/persistent_banks.hpp"
#include "collectives/shared_banks.hpp"
#include "collectives/shm_collective.hpp"
#include "collectives/team.hpp"
#include "messages/exchange.hpp"
#include "progress/core/engine.hpp"
#include "rails/memory.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// Gives a team its shared memory: agrees with the other ranks on what all of them can use, and
/// holds the resources. The only place where collectives use rails' memory. Of ranks on several
/// nodes those of each node share memory (team::memory.levels), if all nodes can. A node with more
/// ranks than can share memory counts as several.
/// Shape:    not at once, because many communicators live for a handful of calls and a process has
///           few slots: at the `first_try`th call, and once more at the `last_try`th if no slot was
///           free.
/// Threads:  as collectives on a communicator.
class node_memory {
 public:
  /// The rails' contracts in this process; null: not available.
  struct rail_memory {
    rails::shm_slots* slots = nullptr;
    rails::memory* copies = nullptr;
  };

  /// A number of a process's node, the same for all its processes.
  using node_number = int (*)(rails::peer_id process);
  /// Where the ranks run: the same on all of them.
  struct nodes {
    bool only_one = false;
    node_number number_of = nullptr;  ///< null: only ranks on one node share memory, all of them
  };

  /// `members` are the ranks' processes. What `neighbors` refers to must outlive this object.
  node_memory(team& ranks, rail_memory memory, progress::engine& engine, messages::context& members,
              nodes where, std::optional<neighborhood> neighbors);

  /// To be called once for each blocking operation, on all ranks alike. Some calls are
  /// collective, and wait. True: team::memory may have changed; schedules made before must not be
  /// used again, because another rank may make its own anew, with another algorithm.
  [[nodiscard]] bool count_call(const call& what) {
    if (calls_ == last_try) [[likely]]
      return false;
    team_.agrees_in = what;
    return try_now();
  }
  /// The same for a persistent operation, which will be started often: it tries at once.
  [[nodiscard]] bool count_persistent(const call& what) {
    calls_ = std::max(calls_, first_try - 1);
    team_.agrees_in = what;  // also for `begin_persistent` and `settle_persistent`
    return count_call(what);
  }
  /// As those of persistent_banks; where the team has no banks, `settle_persistent` has nothing to
  /// do. Collective, both wait.
  void begin_persistent(schedule& s);
  [[nodiscard]] bool settle_persistent(schedule& s, bool is_built);

 private:
  static constexpr int first_try = 4, last_try = 256;

  class rail_copies final : public peer_copies {
   public:
    rail_copies(rails::memory& memory, const std::vector<rails::peer_id>& processes) noexcept
        : memory_(memory), processes_(processes) {}
    /// Every rank but this one.
    [[nodiscard]] bool reach_all(int own_rank) const noexcept;
    [[nodiscard]] bool read(int rank, std::uint64_t from,
                            std::span<std::byte> to) noexcept override;

   private:
    rails::memory& memory_;
    const std::vector<rails::peer_id>& processes_;
  };

  bool try_now();
  /// The ranks that share memory with this one.
  [[nodiscard]] team& local() noexcept { return levels_ ? levels_->local() : team_; }
  /// False, on all ranks alike: no node has several of them.
  [[nodiscard]] bool find_levels();
  /// Collective: on a slot. Nothing: there is none.
  [[nodiscard]] std::optional<std::uint32_t> open_slot();
  /// Collective. Null: there is no room.
  [[nodiscard]] std::unique_ptr<persistent_banks> open_persistent();
  /// Collective, and so is `measure_lending`: whether copying out of another process is faster than
  /// copying through a bank.
  void open_banks(std::uint32_t slot);
  [[nodiscard]] bool measure_lending();
  /// Null: there are more than two ranks.
  [[nodiscard]] passed_areas* open_areas(std::uint32_t slot);
  /// Collective: each rank reads in its sources' lists of destinations where its blocks come from.
  void match_edges(std::uint32_t slot);

  team& team_;
  rails::shm_slots* const rail_slots_;
  progress::engine& engine_;
  messages::context& members_;
  const nodes nodes_;
  std::unique_ptr<node_levels> levels_;    // of ranks that do not all share memory
  std::vector<rails::peer_id> processes_;  // of `local()`
  std::optional<rail_copies> copies_;
  std::unique_ptr<shm_collective> slots_;
  std::optional<passed_areas> areas_;
  std::unique_ptr<shared_banks> banks_;
  std::unique_ptr<persistent_banks> persistent_;
  bool persistent_tried_ = false;
  const std::optional<neighborhood> neighbors_;
  std::optional<edge_ends> edges_;
  int calls_ = 0;  // `last_try`: no more tries
};

}  // namespace headway::collectives
