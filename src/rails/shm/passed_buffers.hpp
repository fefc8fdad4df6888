#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::rails::shm {

/// Where the bytes of a packet's record are.
enum class record_place : std::uint8_t {
  ring,            ///< behind its word
  readers_buffer,  ///< in the passed buffer of the segment that belongs to the record's reader
  writers_buffer,  ///< in that of the writer's segment
};

// The two buffers that a pair of processes passes to each other.
//
// A process that has read a payload has its lines in the caches of its core. To write them again
// there takes nothing from another core, while a ring has the writer take each line from where the
// reader left it. So a payload goes into the buffer that this process has read last, if it owns
// one. With the record that says so the buffer becomes the peer's, and it becomes its reader's when
// the record is released. Processes that answer each other pass one buffer, processes that send to
// each other at the same time two. One that only sends soon owns none, and its payloads go through
// the ring. docs/decisions/0055-passed-buffers.md has the figures.
//
// At first each buffer belongs to the process that writes the ring beside it.
//
// Hazards, and the edge that removes each:
//   read before it is whole            the ring's (P) -> (A), of the record
//   written while the peer reads it    the same: only its owner writes, and a record passes it on
//   written by the thread that sends while the one that reaps reads it
//                                      (H) release store of `mine` -> (T) acquire load
// Checked by tests/model/shm_passed_buffers_model.cpp (mutations there) and
// tests/stress/shm_stress.cpp

/// What one of the two processes knows of the two buffers.
/// Shape:    two pointers and three atomics; allocates nothing.
/// Threads:  `take` one at a time (the sending thread), `read` one at a time (the reaping thread);
///           the rest either.
/// Progress: never waits.
template <template <class> class Atomic = std::atomic>
class passed_buffers {
 public:
  /// Once, by any thread: the buffer in the peer's segment is this process's. Before, it has none.
  void set_peers(std::byte* at) noexcept {
    at_[peers] = at;
    mine_[peers].store(true, std::memory_order_release);  // pairs with (T)
  }
  /// Before the first record of the peer is taken.
  void set_own(std::byte* at) noexcept {
    at_[own] = at;
    mine_[own].store(false, std::memory_order_relaxed);
  }

  /// Whether `take` would find a buffer. The sending thread.
  [[nodiscard]] bool any() const noexcept {
    return mine_[peers].load(std::memory_order_relaxed) ||  // a hint, `take` decides
           mine_[own].load(std::memory_order_relaxed);
  }
  /// The buffer to write to, which is the peer's with the next record; null: there is none.
  [[nodiscard]] std::byte* take(record_place& where) noexcept {
    const unsigned last = last_.load(std::memory_order_relaxed);  // a hint
    for (const unsigned one : {last, 1 - last}) {
      if (!mine_[one].load(std::memory_order_acquire)) continue;  // (T)
      mine_[one].store(false, std::memory_order_relaxed);         // the record's (P) carries it
      where = one == peers ? record_place::readers_buffer : record_place::writers_buffer;
      return at_[one];
    }
    return nullptr;
  }
  /// Where the peer's record lies that names this place; null: this buffer is not the peer's.
  [[nodiscard]] std::byte* find(record_place where) const noexcept {
    const unsigned one = side_of(where);
    return mine_[one].load(std::memory_order_relaxed) ? nullptr : at_[one];
  }
  /// The peer's record there was read.
  void read(record_place where) noexcept {
    const unsigned one = side_of(where);
    last_.store(one, std::memory_order_relaxed);
    mine_[one].store(true, std::memory_order_release);  // (H)
  }

 private:
  /// In whose segment a buffer lies.
  enum side : unsigned { peers, own };
  [[nodiscard]] static unsigned side_of(record_place where) noexcept {
    return where == record_place::readers_buffer ? own : peers;
  }

  std::array<std::byte*, 2> at_{};
  std::array<Atomic<bool>, 2> mine_{};
  Atomic<unsigned> last_{peers};
};

}  // namespace headway::rails::shm
