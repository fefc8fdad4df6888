#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "rails/driver.hpp"
#include "rails/exposures.hpp"
#include "rails/shm/arrivals.hpp"
#include "rails/shm/get_answers.hpp"
#include "rails/shm/ring.hpp"
#include "rails/shm/ring_memory.hpp"
#include "rails/shm/send_channel.hpp"

namespace headway::rails::shm {

/// The receiving end of one slot of this process's segment: reads the peer's records, copies pieces
/// from buffers, and reads pieces from the peer's memory where that is allowed and no end pushes.
/// See send_channel.hpp.
///
/// Shape:    fixed; allocates nothing.
/// Threads:  `take`, `release` one at a time; `waiting` any thread.
/// Progress: never waits. A call copies at most `copy_budget_bytes` and a piece.
/// Errors:   what the peer wrote is checked before use; if it is malformed the peer is lost, with
///           one line in the log.
class receive_channel {
 public:
  struct context {
    slot_view slot;
    geometry shape;
    std::size_t record_bytes_max = 0;
    std::uint32_t index = 0;       ///< of the slot
    send_channel* back = nullptr;  ///< the send channel to the same peer
    exposures* exposed = nullptr;
    pid_t readable_pid = 0;  ///< 0: its memory cannot be read
    base::clock clock = {};
  };
  void begin(const context& given) noexcept;

  [[nodiscard]] std::size_t take(std::span<event> out) noexcept {
    if (reader_.peek() == 0 && active_.load(std::memory_order_relaxed) == 0) [[likely]] {
      follows_ = false;
      return 0;
    }
    return take_all(out);
  }
  /// `what`: the low half of the event's `driver_word`.
  void release(std::uint64_t what) noexcept;
  /// Whether `take` would find something of this kind.
  [[nodiscard]] bool waiting(arrivals which) noexcept;
  [[nodiscard]] bool belongs_to(const send_channel& way) const noexcept { return c_.back == &way; }
  /// The number under which `exposures` knows the borrower of a part: several channels may share
  /// it.
  [[nodiscard]] unsigned holder() const noexcept { return c_.index % 64; }
  /// After return the peer no longer writes directly into this process. Any thread. Waits for a
  /// piece that is being written; for ever if the peer was stopped in the middle of one.
  void take_back_targets() noexcept;

 private:
  /// Transfers that were announced and are not complete: at most `transfers_max` that the sender
  /// has not finished, and at most `pieces_max` that it has, the end of which is still in a buffer.
  static constexpr std::uint32_t table_size = 128;
  static_assert(table_size >= transfers_max + pieces_max);
  /// How long to wait for the next piece before this end reads from the sender's memory.
  static constexpr std::uint64_t patience_ns = 4000;
  /// The same while the sender copies a piece, or payloads are under way to it, too: it may empty
  /// some of their buffers before it fills the next one. Both take a few µs: after this time the
  /// sender's thread does not run.
  static constexpr std::uint64_t copying_patience_ns = 20'000;
  /// Most bytes to read at once: a call costs half a µs.
  static constexpr std::uint32_t pull_bytes = 256 * 1024;

  /// In an event's `driver_word`, beside the cells: the buffer that its release passes on.
  static constexpr unsigned place_shift = 30;

  static constexpr const char* behind_its_exposure = "a payload ends behind its exposure";

  struct transfer {
    transfer_notice notice{};
    std::uint64_t missing = 0;  // bytes; 0: not active
    bool pulled = false;        // some were read from the sender's memory
    bool lent = false;          // the peer may write directly to the target …
    bool left = false;          // … and is to copy everything, while this process computes
  };

  [[nodiscard]] bool broken() const noexcept { return broken_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t take_all(std::span<event> out) noexcept;
  [[nodiscard]] std::size_t take_records(std::span<event> out) noexcept;
  static void prefetch(const std::byte* first, std::size_t bytes) noexcept;
  [[nodiscard]] bool take_record(const record_head& head, std::uint64_t position,
                                 event& e) noexcept;
  void report(const record_head& head, const std::byte* at, std::uint64_t passes_on,
              event& e) noexcept;
  [[nodiscard, gnu::noinline]] bool take_other(const record_head& head, const std::byte* at,
                                               event& e) noexcept;
  [[nodiscard]] bool take_part(const record_head& head, const std::byte* in_ring,
                               event& e) noexcept;
  [[nodiscard]] bool take_put(std::span<const std::byte> record, event& e) noexcept;
  void take_atomic(std::span<const std::byte> record) noexcept;
  void take_get(std::span<const std::byte> record) noexcept;
  void take_notice(std::span<const std::byte> record) noexcept;
  void lend(transfer& t) noexcept;
  void consume(std::uint64_t cells) noexcept;
  void free_cells(std::uint64_t cells) noexcept;

  [[nodiscard]] piece_line& next_buffer() const noexcept;
  [[nodiscard]] bool piece_ready() const noexcept;
  [[nodiscard]] std::size_t take_pieces(std::span<event> out) noexcept;
  [[nodiscard]] std::size_t take_piece(event& e) noexcept;
  [[nodiscard]] std::size_t pull(event& e) noexcept;
  [[nodiscard]] bool pull_is_due() noexcept;
  [[nodiscard]] bool sender_copies() const noexcept;
  [[nodiscard]] bool leaves_copying() const noexcept;
  [[nodiscard]] transfer* claim_some(std::uint32_t& first, std::uint32_t& count) noexcept;
  [[nodiscard]] event landed(std::uint64_t exposure_token, std::size_t bytes) const noexcept;
  [[nodiscard]] exposures::request part_of(const transfer& t, std::uint64_t offset,
                                           std::uint64_t bytes) const noexcept;
  void arrived(transfer& t, std::size_t bytes) noexcept;
  void look_at_oldest() noexcept;
  void serve_gets() noexcept;
  void count_active(int more) noexcept {
    active_.store(active_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(more),
                  std::memory_order_relaxed);  // only this thread writes it
    c_.back->note_incoming(active_.load(std::memory_order_relaxed) != 0);
  }
  void break_off(const char* why) noexcept;

  // Every message:
  ring_reader<ring_memory> reader_;
  // Transfers, and 1 while gets are not answered. Written by `take`; an atomic for `waiting`.
  std::atomic<std::uint32_t> active_{0};
  std::uint32_t held_records_ = 0;   // reported and not released
  std::uint64_t carried_cells_ = 0;  // used up behind a record that is held
  std::size_t following_ = 0;        // bytes of a packet that are due in `more` records
  bool follows_ = false;             // the last look found a record
  context c_;
  std::atomic<bool> broken_{false};  // the peer is cut off. Written by `take`; for `waiting`

  // Packets in passed buffers: where the parts that follow lie.
  passed_place part_place_ = passed_place::none;
  const std::byte* next_part_ = nullptr;

  get_answers gets_;

  // Transfers:
  std::atomic<std::uint64_t> buffer_ticket_{0};  // written by `take`; an atomic for `waiting`
  std::atomic<bool> may_pull_{false};            // the last look found a piece to read
  std::atomic<std::uint32_t> oldest_left_{0};    // 1 + the line of the oldest transfer, if left
  std::uint32_t oldest_ = 0;                     // no transfer before it is active
  std::uint32_t announced_ = 0;                  // number of the next notice
  std::uint64_t silent_since_ns_ = 0;            // 0: not silent
  std::array<transfer, table_size> table_;
};

}  // namespace headway::rails::shm
