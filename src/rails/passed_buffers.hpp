#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::rails {

/// In which of the two buffers that two processes pass to each other something lies.
enum class passed_place : std::uint8_t {
  none,     ///< in neither
  readers,  ///< in the one in the memory of the process that reads it
  writers,  ///< in the one in the memory of the process that has written it
};

// Two buffers that a pair of processes passes to each other: of packets in a rail through shared
// memory, and of streams in collective operations.
//
// A process that has read a payload has its lines in the caches of its core. To write them again
// there takes nothing from another core, while a ring has the writer take each line from where the
// reader left it. So a payload goes into the buffer that this process has read last, if it owns
// one. A message in other memory says in which buffer the payload lies, and makes the buffer the
// peer's; once that has read the payload, it may write there. Processes that answer each other pass
// one buffer, processes that send to each other at the same time two. One that only sends soon owns
// none, and its payloads go elsewhere. docs/decisions/0055-passed-buffers.md has the figures.
//
// At first each process owns the buffer in the memory of the other one.
//
// Hazards, and the edge that removes each:
//   read before it is whole            the edge of the message that says where it lies
//   written while the peer reads it    the same: only its owner writes, and a message passes it on
//   written by the thread that sends while the one that reads reads it
//                                      (H) release store of `mine` -> (T) acquire load
// Checked by tests/model/passed_buffers_model.cpp (mutations there), tests/stress/shm_stress.cpp
// and tests/stress/shared_banks_stress.cpp.

/// What one of the two processes knows of the two buffers.
/// Shape:    two pointers and three atomics; allocates nothing.
/// Threads:  `take` one at a time (the thread that sends), `read` one at a time (the thread
///           that reads); the rest either.
/// Progress: never waits.
template <template <class> class Atomic = std::atomic>
class passed_buffers {
 public:
  /// Once, by any thread: the buffer in the peer's memory is this process's. Before, it has none.
  void set_peers(std::byte* at) noexcept {
    at_[peers] = at;
    mine_[peers].store(true, std::memory_order_release);  // pairs with (T)
  }
  /// Before the first message of the peer is taken.
  void set_own(std::byte* at) noexcept {
    at_[own] = at;
    mine_[own].store(false, std::memory_order_relaxed);
  }

  /// Whether `take` would find a buffer. The sending thread.
  [[nodiscard]] bool any() const noexcept {
    return mine_[peers].load(std::memory_order_relaxed) ||  // a hint, `take` decides
           mine_[own].load(std::memory_order_relaxed);
  }
  /// The buffer to write to, which is the peer's with the next message; null: there is none.
  [[nodiscard]] std::byte* take(passed_place& where) noexcept {
    const unsigned last = last_.load(std::memory_order_relaxed);  // a hint
    for (const unsigned one : {last, 1 - last}) {
      if (!mine_[one].load(std::memory_order_acquire)) continue;  // (T)
      mine_[one].store(false, std::memory_order_relaxed);         // the message carries it
      where = one == peers ? passed_place::readers : passed_place::writers;
      return at_[one];
    }
    return nullptr;
  }
  /// Where the peer's payload lies that is at this place; null: this buffer is not the peer's.
  [[nodiscard]] std::byte* find(passed_place where) const noexcept {
    const unsigned one = side_of(where);
    return mine_[one].load(std::memory_order_relaxed) ? nullptr : at_[one];
  }
  /// The peer's payload there was read.
  void read(passed_place where) noexcept {
    const unsigned one = side_of(where);
    last_.store(one, std::memory_order_relaxed);
    mine_[one].store(true, std::memory_order_release);  // (H)
  }

 private:
  /// In whose memory a buffer lies.
  enum side : unsigned { peers, own };
  [[nodiscard]] static unsigned side_of(passed_place where) noexcept {
    return where == passed_place::readers ? own : peers;
  }

  std::array<std::byte*, 2> at_{};
  std::array<Atomic<bool>, 2> mine_{};
  Atomic<unsigned> last_{peers};
};

}  // namespace headway::rails
