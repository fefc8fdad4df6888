#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::rails::shm {

// A ring of records between one writer and one reader, in lines of 64 bytes.
//
// A record is a word followed by bytes. It begins on a line and is never split at the ring's end:
// the rest of the ring becomes a skip record. The word 0 means "no record yet". The reader never
// writes into the ring, so an 8-byte message moves one line from core to core and nothing back.
//
//   lines [consumed, released)   the reader's, returned soon       (positions never wrap;
//   lines [released, read)       handed out, not yet released        line = position % count)
//   lines [read, written)        published, their words are not 0
//   line  written                its word is 0, and the reader may be loading it
//   the rest up to consumed + count: the writer's own
//
// Hazards, and the edge that removes each:
//   half-written record read           (P) release store of its word -> (A) acquire load
//   stale word taken for a record      (Z) the next line's word is zeroed before (P), carried by it
//   record overwritten while in use    (F) release store of consumed -> (O) acquire load
// `Memory` provides word(line), glimpse(line), consumed(), wants_room() and line_count(): a
// segment's memory, or a model's.
// Checked by tests/model/shm_ring_model.cpp (mutations there), tests/stress/shm_stress.cpp

/// The writing end.
/// Threads:  one at a time.
/// Progress: never waits; a full ring is an ordinary answer.
template <class Memory>
class ring_writer {
 public:
  ring_writer() = default;
  explicit ring_writer(Memory memory) noexcept : memory_(memory), limit_(memory.line_count()) {}

  /// Makes room for a record of `lines`; false: full. Nothing is visible before `publish`, which
  /// `begin` must precede.
  [[nodiscard]] bool reserve(std::uint64_t lines) noexcept {
    const std::uint64_t at = written_ & (memory_.line_count() - 1);
    skipped_ = at + lines > memory_.line_count() ? memory_.line_count() - at : 0;
    // One more line, because the word behind the record is set to zero.
    if (written_ + skipped_ + lines < limit_) [[likely]]
      return true;
    limit_ = memory_.consumed().load(std::memory_order_acquire) + memory_.line_count();  // (O)
    return written_ + skipped_ + lines < limit_;
  }
  /// The position of the reserved record.
  [[nodiscard]] std::uint64_t position() const noexcept { return written_ + skipped_; }

  /// Before `publish`. The reader polls the record's first line: if this store came between two
  /// stores into that line and had to wait for its own, the line would be in the reader's cache
  /// again before the second one.
  void begin(std::uint64_t lines) noexcept {
    memory_.word(position() + lines).store(0, std::memory_order_relaxed);  // (Z)
  }
  /// Behind `begin` and the record's bytes.
  void publish(std::uint64_t lines, std::uint64_t word, std::uint64_t skip_word) noexcept {
    const std::uint64_t first = position();
    if (skipped_ != 0) [[unlikely]] {
      // Read only after the skip record; carried by its release.
      memory_.word(first).store(word, std::memory_order_relaxed);
      memory_.word(written_).store(skip_word, std::memory_order_release);  // (P)
    } else {
      memory_.word(first).store(word, std::memory_order_release);  // (P)
    }
    written_ = first + lines;
  }

  /// The value of `consumed` that the writer last saw: it changes when there is more room.
  [[nodiscard]] std::uint64_t consumed_seen() const noexcept {
    return limit_ - memory_.line_count();
  }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }

 private:
  Memory memory_;
  std::uint64_t written_ = 0;
  // first position that may not be written: consumed, as last seen, + count
  std::uint64_t limit_ = 0;
  std::uint64_t skipped_ = 0;  // lines to the ring's end, if the reserved record skips them
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
  [[nodiscard]] std::uint64_t peek() noexcept {
    return memory_.word(read()).load(std::memory_order_acquire);  // (A)
  }
  [[nodiscard]] std::uint64_t position() const noexcept { return read(); }
  /// Lines from here to the ring's end.
  [[nodiscard]] std::uint64_t lines_to_end() const noexcept {
    return memory_.line_count() - (read() & (memory_.line_count() - 1));
  }
  void advance(std::uint64_t lines) noexcept {
    // (W) release: a thread that sees an overwritten line in `waiting` sees this, too.
    read_.store(read() + lines, std::memory_order_release);
  }
  /// Returns the oldest `lines` that were advanced over. True: they were published, and the writer
  /// wants to be notified, after a store-load fence: see `wants_room`.
  [[nodiscard]] bool give_back(std::uint64_t lines) noexcept {
    released_ += lines;
    if (released_ - told_ < memory_.line_count() / 4) [[likely]]
      return false;
    told_ = released_;
    memory_.consumed().store(told_, std::memory_order_release);  // (F)
    return true;
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
