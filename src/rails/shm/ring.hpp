#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::rails::shm {

constexpr std::uint64_t cells_per_line = 2;

// A ring of records between one writer and one reader, in cells of half a cache line.
//
// A record is a word followed by bytes. It takes one cell, or whole lines, and is never split at
// the ring's end: cells that would be in its way become a skip record. The word 0 means "no record
// yet". The reader never writes into the ring, so an 8-byte message moves half a line from core to
// core and nothing back.
//
//   cells [consumed, released)   the reader's, returned soon       (positions never wrap;
//   cells [released, read)       handed out, not yet released        cell = position % count)
//   cells [read, written)        published, their words are not 0
//   cell  written                its word is 0, and the reader may be loading it
//   the rest up to consumed + count: the writer's own
//
// Hazards, and the edge that removes each:
//   half-written record read           (P) release store of its word -> (A) acquire load
//   stale word taken for a record      (Z) the next cell's word is zeroed before (P), carried by it
//   record overwritten while in use    (F) release store of consumed -> (O) acquire load
// `Memory` provides word(cell), glimpse(cell), consumed(), wants_room() and cell_count(): a
// segment's memory, or a model's.
// Checked by tests/model/shm_ring_model.cpp (mutations there), tests/stress/shm_stress.cpp

/// The writing end.
/// Threads:  one at a time.
/// Progress: never waits; a full ring is an ordinary answer.
template <class Memory>
class ring_writer {
 public:
  ring_writer() = default;
  explicit ring_writer(Memory memory) noexcept : memory_(memory), limit_(memory.cell_count()) {}

  /// Makes room for a record of `cells`; false: full. Nothing is visible before `publish`, which
  /// `begin` must precede.
  [[nodiscard]] bool reserve(std::uint64_t cells) noexcept {
    const std::uint64_t at = written_ & (memory_.cell_count() - 1);
    skipped_ = cells > 1 ? at % cells_per_line : 0;
    if (at + skipped_ + cells > memory_.cell_count()) [[unlikely]]
      skipped_ = memory_.cell_count() - at;
    // One more cell, because the word behind the record is set to zero.
    if (written_ + skipped_ + cells < limit_) [[likely]]
      return true;
    limit_ = memory_.consumed().load(std::memory_order_acquire) + memory_.cell_count();  // (O)
    return written_ + skipped_ + cells < limit_;
  }
  /// Cells that the reserved record has the reader skip.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }
  /// The position of the reserved record.
  [[nodiscard]] std::uint64_t position() const noexcept { return written_ + skipped_; }

  /// Before `publish`. The reader polls the record's first line: if this store came between two
  /// stores into that line and had to wait for its own, the line would be in the reader's cache
  /// again before the second one.
  void begin(std::uint64_t cells) noexcept {
    memory_.word(position() + cells).store(0, std::memory_order_relaxed);  // (Z)
  }
  /// Behind `begin` and the record's bytes.
  void publish(std::uint64_t cells, std::uint64_t word, std::uint64_t skip_word) noexcept {
    const std::uint64_t first = position();
    if (skipped_ != 0) [[unlikely]] {
      // Read only after the skip record; carried by its release.
      memory_.word(first).store(word, std::memory_order_relaxed);
      memory_.word(written_).store(skip_word, std::memory_order_release);  // (P)
    } else {
      memory_.word(first).store(word, std::memory_order_release);  // (P)
    }
    written_ = first + cells;
  }

  /// Whether this cell, not before `written`, is the writer's, as far as the writer knows.
  [[nodiscard]] bool owns(std::uint64_t position) const noexcept { return position < limit_; }
  /// The position behind the last record.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
  /// The value of `consumed` that the writer last saw: it changes when there is more room.
  [[nodiscard]] std::uint64_t consumed_seen() const noexcept {
    return limit_ - memory_.cell_count();
  }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }

 private:
  Memory memory_;
  std::uint64_t written_ = 0;
  // first position that may not be written: consumed, as last seen, + count
  std::uint64_t limit_ = 0;
  std::uint64_t skipped_ = 0;  // cells in front of the reserved record
};

/// The reading end.
/// Threads:  `peek`, `advance`, `give_back` one at a time; `waiting` any thread, as a hint that is
///           false only if there was no record at some moment after the call began.
/// Progress: never waits.
template <class Memory, template <class> class Atomic = std::atomic>
class ring_reader {
 public:
  ring_reader() = default;
  explicit ring_reader(Memory memory) noexcept : memory_(memory) {}

  /// The word of the next record, or 0.
  [[nodiscard]] std::uint64_t peek() noexcept { return peek_at(read()); }
  /// The same for a caller that knows the `position`.
  [[nodiscard]] std::uint64_t peek_at(std::uint64_t position) noexcept {
    return memory_.word(position).load(std::memory_order_acquire);  // (A)
  }
  [[nodiscard]] std::uint64_t position() const noexcept { return read(); }
  /// Cells from a position to the ring's end.
  [[nodiscard]] std::uint64_t cells_to_end(std::uint64_t position) const noexcept {
    return memory_.cell_count() - (position & (memory_.cell_count() - 1));
  }
  void advance(std::uint64_t cells) noexcept { advance_to(read() + cells); }
  void advance_to(std::uint64_t position) noexcept {
    // (W) release: a thread that sees an overwritten line in `waiting` sees this, too.
    read_.store(position, std::memory_order_release);
  }
  /// Returns the oldest `cells` that were advanced over. True: they were published, and the writer
  /// wants to be notified, after a store-load fence: see `wants_room`.
  [[nodiscard]] bool give_back(std::uint64_t cells) noexcept {
    released_ += cells;
    if (released_ - told_ < memory_.cell_count() / 4) [[likely]]
      return false;
    told_ = released_;
    memory_.consumed().store(told_, std::memory_order_release);  // (F)
    return true;
  }
  /// Whether the record that ends at this position is still to be read. Any thread; false only if
  /// it was read at some moment after the call began.
  [[nodiscard]] bool is_before(std::uint64_t end) const noexcept {
    return read_.load(std::memory_order_acquire) < end;  // (W)
  }
  [[nodiscard]] bool waiting() noexcept {
    // If another thread reads on, the line may be overwritten meanwhile with any bytes. Then
    // `read_` has changed, and the answer is true: the ring is being read.
    const std::uint64_t before = read_.load(std::memory_order_acquire);
    if (memory_.glimpse(before) != 0) return true;
    return read_.load(std::memory_order_acquire) != before;  // (W)
  }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }

 private:
  [[nodiscard]] std::uint64_t read() const noexcept {
    return read_.load(std::memory_order_relaxed);  // written by the calling thread
  }

  Memory memory_;
  Atomic<std::uint64_t> read_{0};  // an atomic for `waiting` alone
  std::uint64_t released_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace headway::rails::shm
