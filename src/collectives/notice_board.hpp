#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/basic_notice.hpp"
#include "collectives/team.hpp"
#include "messages/request.hpp"
#include "progress/engine.hpp"
#include "rails/board.hpp"

namespace headway::collectives {

/// Small blocking collectives of ranks that share memory: each shows its value in a line of its own
/// and reads all others', in one step and without a message. Where ranks outnumber processors this
/// is one turn on a processor per rank and operation, which is the least that there can be.
///
/// Shape:    up to `ranks_max` ranks, values up to `value_bytes_max` bytes.
/// Threads:  one at a time, as collectives on a communicator are; all ranks in the same order.
/// Progress: `meet` looks a few times itself, then waits as the engine waits: while it does,
///           all else of this process progresses, and in the end it sleeps.
/// Errors:   values of unequal size end it with `truncated` or `failed` on the ranks that see them.
///           A rank that is lost ends `meet` with `peer_lost` on all ranks that still wait for
///           anybody, and every later one.
class notice_board final : private rails::board::watcher {
 public:
  static constexpr std::size_t value_bytes_max = 48;
  static constexpr int ranks_max = 64;

  /// `slot` was agreed on by all ranks of the team (see `open`).
  notice_board(team& ranks, rails::board& memory, progress::engine& engine,
               std::span<const std::uint32_t> processes, std::uint32_t slot);
  ~notice_board();
  notice_board(const notice_board&) = delete;
  notice_board& operator=(const notice_board&) = delete;

  /// Agrees with the other ranks on a slot. Collective; null on all ranks alike when there is none,
  /// or one rank cannot see another's memory. `memory` null: this process has no board.
  [[nodiscard]] static std::unique_ptr<notice_board> open(team& ranks, rails::board* memory,
                                                          progress::engine& engine,
                                                          std::span<const std::uint32_t> processes);

  /// Shows `mine` and returns when everybody's is there.
  [[nodiscard]] messages::outcome meet(std::span<const std::byte> mine) noexcept;
  /// After `meet`, until the next one.
  [[nodiscard]] const std::byte* value_of(int rank) const noexcept;
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }

 private:
  struct room {
    std::uint64_t size;
    std::byte bytes[value_bytes_max];  // on a boundary of 16
  };
  using notice = basic_notice<std::atomic<std::uint64_t>, room>;
  static_assert(sizeof(notice) == rails::board::line_bytes && notice_lines == rails::board::lines);

  [[nodiscard]] notice& line_of(std::size_t rank) const noexcept;
  [[nodiscard]] bool all_here() const noexcept;
  [[nodiscard]] bool ready() const noexcept override;
  [[nodiscard]] bool look_for_losses() noexcept;
  [[nodiscard]] messages::outcome compare(std::size_t size) noexcept;
  void wait() noexcept;
  static progress::ltask_result on_turn(progress::ltask& task) noexcept;

  struct looker : progress::ltask {
    explicit looker(notice_board& whose) noexcept;
    notice_board& owner;
  };

  team& team_;
  rails::board& memory_;
  progress::engine& engine_;
  std::vector<rails::peer_id> processes_;
  std::vector<notice*> lines_;  // of each rank, the first of two
  std::uint64_t number_ = 0;    // of the present exchange; all ranks count alike
  int failed_rank_ = -1;
  bool broken_ = false;  // a rank is lost: nothing is shown any more
  std::atomic<bool> waits_{false};
  looker task_;
  progress::completion done_;
};

}  // namespace headway::collectives
