#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/byte_ring.hpp"
#include "collectives/schedule.hpp"
#include "collectives/shared_banks.hpp"
#include "collectives/team.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// Gives the persistent operations of a team banks, each its own: they may be started in another
/// order on each rank (MPI-5.0 section 6.13), while exchanges in the same banks have one order.
///
/// Shape:    in the bank of a slot that has nothing else: pages and small banks of
///           `operations_max` operations, and a ring for what all of them show.
/// Threads:  `begin` and `settle` one schedule after the other, on all ranks in the same order; a
///           schedule may end on any thread, before this object.
/// Progress: `settle` waits for the other ranks.
/// Errors:   without room, or where a rank wants none, no rank's schedule gets banks.
class persistent_banks {
 public:
  static constexpr int operations_max = 64;
  static constexpr std::int64_t own_bytes = 4096;
  static constexpr std::size_t ring_at =
      rails::shm_slots::bank_page_bytes + operations_max * (bank_memory::page_bytes + own_bytes);
  static constexpr auto ring_bytes =
      static_cast<std::int64_t>(rails::shm_slots::passed_at - ring_at);
  /// A stream that is longer would pass through a small bank, which takes longer than messages.
  static constexpr std::int64_t stream_bytes_max = ring_bytes / 2;

  /// `slot`: all ranks of the team have agreed on it, and reserved its bank.
  /// `local`: those of its ranks that share memory with this one, with these processes; the other
  /// nodes do the same with theirs. `areas`: null, or those of two ranks, which outlive this
  /// object.
  persistent_banks(team& ranks, team& local, rails::shm_slots& memory,
                   std::span<const rails::peer_id> processes, std::uint32_t slot,
                   passed_areas* areas);
  ~persistent_banks();
  persistent_banks(const persistent_banks&) = delete;
  persistent_banks& operator=(const persistent_banks&) = delete;

  /// Makes an empty schedule persistent. Its steps are then built for banks whose place is not
  /// known yet.
  void begin(schedule& s);
  /// `is_built`: the steps of the schedule of the last `begin` are there; otherwise this rank wants
  /// no banks. If all ranks get some, the schedule has them until it is cleared. False: it has
  /// none, and is empty, because its steps need some.
  [[nodiscard]] bool settle(schedule& s, bool is_built);

 private:
  struct given;

  /// The page and small bank on which all ranks agree; -1: there is none.
  [[nodiscard]] int agree_on_place(bool wants);

  team& team_;
  team& local_;
  rails::shm_slots& memory_;
  const std::vector<rails::peer_id> processes_;
  const std::uint32_t slot_;
  byte_ring ring_;
  passed_areas* const areas_;
  std::uint64_t operations_ = 0;  // made so far; all ranks count alike
  std::unique_ptr<given> begun_;  // between `begin` and `settle`
  // A bit for each page and small bank.
  // Hazard: this rank says that they are free while another thread of it still accesses them.
  // Edge:   (F) release, behind the last access -> (C) acquire, before the agreement, whose
  //         messages order that on the other ranks.
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace headway::collectives
