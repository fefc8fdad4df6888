#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/call.hpp"
#include "collectives/exchange_slot.hpp"
#include "collectives/node_wait.hpp"
#include "collectives/team.hpp"
#include "messages/request.hpp"
#include "processes/membership.hpp"
#include "progress/core/engine.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

struct reduction;

/// Small blocking collectives of ranks that share memory: each rank writes its value into a slot of
/// its own and reads those of all others, in one step and without a message. If ranks outnumber
/// processors, each rank runs once per operation, which is the minimum.
///
/// Shape:    up to `ranks_max` ranks, values up to `value_bytes_max` bytes.
/// Threads:  one at a time, as collectives on a communicator are; all ranks in the same order.
/// Progress: `share` polls a few times, then waits at the engine: meanwhile the rest of this
///           process progresses, and finally it sleeps.
/// Errors:   values of unequal size end it with `truncated` or `failed` on the ranks that see them.
///           If a rank is lost, `share` ends with `peer_lost` on all ranks that still wait for a
///           value, and every later call does. After the team's log is broken, calls that wait
///           end with `failed`.
class shm_collective final : private node_wait {
 public:
  static constexpr std::size_t value_bytes_max = 112;
  static constexpr int ranks_max = 64;

  /// `slot` was agreed on by all ranks of the team (see `open`).
  shm_collective(team& ranks, rails::shm_slots& memory, progress::engine& engine,
                 std::span<const rails::peer_id> processes, std::uint32_t slot);

  /// Agrees with the other ranks on a slot. Collective; null, on all ranks alike, if no slot is
  /// free, or one rank cannot access another's memory. `memory` null: this process has no slots.
  [[nodiscard]] static std::unique_ptr<shm_collective> open(
      team& ranks, rails::shm_slots* memory, progress::engine& engine,
      std::span<const rails::peer_id> processes);

  /// Publishes `mine`, and returns when the values of all ranks are there.
  [[nodiscard]] messages::outcome share(std::span<const std::byte> mine,
                                        collective what = collective::unknown) noexcept;
  /// After `share`, until the next one.
  [[nodiscard]] const std::byte* value_of(int rank) const noexcept;
  /// Every rank combines all values, in the order of ranks. Only where `allreduce_uses_slots`.
  [[nodiscard]] messages::outcome allreduce(const reduction& r) noexcept;
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }
  [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }

 private:
  struct value {
    std::uint64_t size;
    std::byte bytes[value_bytes_max];  // aligned to 16
  };
  using line = basic_exchange_slot<std::atomic<std::uint64_t>, value>;
  static_assert(sizeof(line) == rails::shm_slots::line_bytes &&
                exchange_lines == rails::shm_slots::lines);

  [[nodiscard]] line& line_of(std::size_t rank) const noexcept;
  /// The values of all ranks.
  [[nodiscard]] bool is_there() const noexcept override;
  /// A rank is lost, or has called another operation.
  [[nodiscard]] bool is_over() noexcept override;
  [[nodiscard]] messages::outcome compare(std::size_t size) noexcept;

  team& team_;
  rails::shm_slots& memory_;
  const std::uint32_t slot_;
  const std::vector<rails::peer_id> processes_;
  std::vector<line*> lines_;    // of each rank, the first of two
  std::uint64_t number_ = 0;    // of the current exchange; all ranks count alike
  std::uint64_t in_lines_ = 0;  // the same in the lines
  int failed_rank_ = -1;
  bool broken_ = false;  // a rank is lost: no value is published any more
};

}  // namespace headway::collectives
