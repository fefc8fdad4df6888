#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"

namespace headway::rails::shm {

// The buffers for pieces of large payloads, which a pair of processes passes to each other.
//
// As with packets (passed_buffers.hpp), it is fastest to write to the buffer that the process has
// read last, because its cache lines are in the caches of its core. Each entry for a piece
// (`piece_line`, here a line) contains the name of a buffer. A process that has read a piece keeps
// the buffer for the next piece that it sends, and writes the name of a spare buffer into the line.
// A process has spare buffers from its first large payload on; one that sends none leaves the names
// in the lines as they are. docs/decisions/0056-passed-pieces.md has the figures.
//
// Hazards, and the edge that removes each:
//   read before it is whole            of a line: (P) -> (C) of pieces.hpp
//   written while the peer reads it    of a line: (F) -> (O)
//   written by the thread that sends while the one that reaps reads it, or returned by the latter
//   before the former has read the line that named it
//                                      of the lock: release -> acquire
// Checked by tests/model/shm_passed_pieces_model.cpp (mutations there) and
// tests/stress/shm_stress.cpp

/// Buffers that a process has beyond those of the lines.
constexpr std::uint32_t spare_pieces_max = 8;

/// What one of the two processes knows of the buffers of both.
/// Shape:    the numbers of `spare_pieces_max` buffers; allocates nothing.
/// Threads:  `fill` one at a time (the pushing thread), `read` one at a time (the reaping thread),
///           `set_own` and `set_peers` once each, any thread; `find` any.
/// Progress: never waits: while another thread exchanges a buffer, nothing is exchanged.
template <template <class> class Atomic = std::atomic>
class passed_pieces {
 public:
  /// The buffers in one segment: the first `lines` are those of the lines, the others spare.
  struct area {
    std::byte* begin = nullptr;
    std::uint32_t piece_bytes = 0, lines = 0, spare = 0;
    [[nodiscard]] std::uint32_t count() const noexcept { return lines + spare; }
  };
  /// In the line of a piece: 0 is the buffer with the number of the line, in the line's segment.
  using name = std::uint32_t;

  /// Before the peer's first piece is taken: those of this process's segment.
  void set_own(const area& at) noexcept { set(own, at); }
  /// Once this process has reserved them, and before it fills one: those of the peer's segment.
  void set_peers(const area& at) noexcept { set(peers, at); }

  /// Where the peer's line says that its piece is; null: there is no such buffer.
  [[nodiscard]] const std::byte* find(name said, std::uint32_t line) const noexcept {
    return address(number_in_peers_line(said, line), own);
  }
  /// The peer's piece in the line was read, which `find` has found: what the line says from now on,
  /// so that the peer may fill that buffer.
  [[nodiscard]] name read(name said, std::uint32_t line) noexcept {
    if (!lock_.try_lock()) return said;
    if (unread_count_ != 0) {
      read_[read_count_++] = number_in_peers_line(said, line);
      said = 1 + (unread_[--unread_count_] ^ 1);
    }
    lock_.unlock();
    return said;
  }

  struct to_fill {
    std::byte* at;
    name says;
  };
  /// Where to write the piece of a line that the peer has freed, and what the line says then.
  /// `exchanges`: it may be another buffer than the line has named.
  [[nodiscard]] to_fill fill(name said, std::uint32_t line, bool exchanges) noexcept {
    auto number = said == 0 ? number_of(peers, line) : said - 1;
    if (!address(number, peers)) number = number_of(peers, line);  // the peer named none
    if (exchanges && lock_.try_lock()) {
      if (!has_spare_) take_spare();
      if (read_count_ != 0) {
        unread_[unread_count_++] = number;
        number = read_[--read_count_];
      }
      lock_.unlock();
    }
    return {address(number, peers), 1 + number};
  }

 private:
  // A buffer's number is twice its index in the segment, and the segment.
  enum side : std::uint32_t { peers, own };
  struct shared_area {
    Atomic<std::byte*> published{nullptr};  // the beginning of the area
    area shape;                             // written before, and not changed then
  };
  [[nodiscard]] static constexpr std::uint32_t number_of(side s, std::uint32_t index) noexcept {
    return 2 * index + s;
  }
  /// The peer names segments from its own point of view.
  [[nodiscard]] static constexpr std::uint32_t number_in_peers_line(name said,
                                                                    std::uint32_t line) noexcept {
    return said == 0 ? number_of(own, line) : (said - 1) ^ 1;
  }

  void set(side s, const area& at) noexcept {
    areas_[s].shape = at;
    areas_[s].published.store(at.begin, std::memory_order_release);
  }
  /// `line`: in which segment the line is that names it. Null: it may not name this one.
  [[nodiscard]] std::byte* address(std::uint32_t number, side line) const noexcept {
    const shared_area& where = areas_[number % 2];
    std::byte* const begin = where.published.load(std::memory_order_acquire);  // with its shape
    const auto index = number / 2;
    if (!begin || index >= where.shape.count()) return nullptr;
    if (where.shape.piece_bytes != areas_[line].shape.piece_bytes) return nullptr;
    return begin + index * std::size_t{where.shape.piece_bytes};
  }
  /// Nothing is exchanged between buffers of different sizes.
  void take_spare() noexcept HEADWAY_REQUIRES(lock_) {
    const area& mine = areas_[peers].shape;
    if (!areas_[own].published.load(std::memory_order_acquire)) return;  // nothing arrives: later
    has_spare_ = true;
    if (mine.piece_bytes != areas_[own].shape.piece_bytes) return;
    for (std::uint32_t i = 0; i < mine.spare; ++i)
      unread_[unread_count_++] = number_of(peers, mine.lines + i);
  }

  std::array<shared_area, 2> areas_;
  base::basic_spinlock<Atomic> lock_;  // only ever try-locked
  bool has_spare_ HEADWAY_GUARDED_BY(lock_) = false;
  // Together always the spare ones. In `read_` those that this process has emptied, the last one
  // at the end; in `unread_` the others.
  std::uint32_t read_count_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint32_t unread_count_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::array<std::uint32_t, spare_pieces_max> read_ HEADWAY_GUARDED_BY(lock_) = {};
  std::array<std::uint32_t, spare_pieces_max> unread_ HEADWAY_GUARDED_BY(lock_) = {};
};

}  // namespace headway::rails::shm
