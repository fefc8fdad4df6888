#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/copy_for_reader.hpp"
#include "rails/shm/record_sender.hpp"
#include "rails/shm/segment.hpp"
#include "rails/shm/transfer_table.hpp"

namespace headway::rails::shm {

/// Copies pieces of the transfers to one peer: into the buffers of the peer's segment, or directly
/// to their target (pieces.hpp).
///
/// Shape:    allocates nothing.
/// Threads:  one at a time.
/// Progress: never waits.
class piece_pusher {
 public:
  struct copying {
    passed_pieces<>& buffers;
    copy_figures& figures;
  };
  /// All outlive this object. `way` null: the table stays empty.
  piece_pusher(attachment* way, transfer_table& transfers, record_sender& records,
               const copying& with) noexcept
      : way_(way), transfers_(&transfers), records_(&records), with_(with) {}

  /// Copies at most `copy_budget_bytes` and a piece.
  void push() noexcept;
  /// Whether `push` would find something. There are unfinished transfers.
  [[nodiscard]] bool could_push() noexcept;
  /// Whether the peer has emptied every buffer that was filled before the first call with this
  /// ticket, then `atomic_calls::not_asked`.
  [[nodiscard]] bool buffers_emptied(std::uint64_t& ticket) const noexcept;
  /// As the table's, which only this function calls.
  [[nodiscard]] std::size_t report(peer_id peer, bool down, std::span<event> out) noexcept;

 private:
  struct piece_told {
    std::uint32_t number = 0;  // of the transfer
    std::size_t offset = 0, bytes = 0;
    bool placed = false;
  };
  static constexpr std::size_t placed_bytes = 128 * 1024;  // at once: a system call costs much
  /// Published immediately if the peer only waits for the end, because each publication wakes it.
  static constexpr std::size_t alone_bytes = 1024 * 1024;

  /// The end of the transfers of which pieces may have been returned, the current one included.
  [[nodiscard]] std::uint32_t begun(std::uint32_t posted) const noexcept {
    return next_push_ == posted ? posted : next_push_ + 1;
  }
  [[nodiscard]] bool next_piece(std::uint32_t& number, std::uint32_t& piece) noexcept;
  [[nodiscard]] bool buffer_free() const noexcept;
  [[nodiscard]] bool is_freed_late() noexcept;
  /// Pieces that this process may copy now, if there is a buffer.
  [[nodiscard]] bool has_pieces() noexcept;
  void fill_buffer(std::uint32_t number, std::uint32_t piece) noexcept;
  [[nodiscard]] std::size_t place_some() noexcept;
  [[nodiscard]] bool place(std::uint64_t target, std::span<const std::byte> bytes) noexcept;
  void announce(const piece_told& what) noexcept;

  attachment* const way_;
  transfer_table* const transfers_;
  record_sender* const records_;
  const copying with_;
  // Transfers [oldest, next_push_] wait for pieces that the peer takes; [next_push_, end) have
  // pieces that no end took yet.
  std::uint32_t next_push_ = 0;
  std::uint64_t buffer_ticket_ = 0;
  base::copy_for_reader copy_to_pieces_;
};

}  // namespace headway::rails::shm
