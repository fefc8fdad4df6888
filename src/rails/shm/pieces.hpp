#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace headway::rails::shm {

// The protocol by which the pieces of a large payload go from a sender to one receiver. Both ends
// take pieces by a claim, so that each piece is copied once. The sender's pieces go through a ring
// of buffers, in turns, or directly to their target, which an empty buffer then reports. The
// receiver reads its pieces from the sender's memory and counts them.
//
//   turn of buffer b == 2 × lap       free: the sender's
//   turn of buffer b == 2 × lap + 1   full: the receiver's
//
// The receiver may revoke all targets; it then waits for the piece that is being placed.
//
// Hazards, and the edge that removes each:
//   half-written piece read             (P) release -> (C) acquire
//   piece overwritten while it is read  (F) release -> (O) acquire
//   payload reused while it is read     (R) release -> (D) acquire
//   piece copied twice, or never        (K) one exchange wins each; relaxed, it carries no data
//   placed before it was lent           (G) release -> acquire of the target
//   placed where nothing is lent        (W) then (V), against (V') then (W'): one sees the other
//   target reused while it is written   (E) release -> (W') acquire
//   sender sleeps beside a free buffer  (Q) then (O'), against (F) then (N): one sees the other
// Checked by: tests/model/shm_pieces_model.cpp, shm_buffer_wait_model.cpp,
//             shm_placing_model.cpp (mutations there), tests/stress/shm_stress.cpp.

/// A call of either end copies at most so much, and a piece.
constexpr std::size_t copy_budget_bytes = 128 * 1024;

template <class Turn>
[[nodiscard]] bool piece_is_free(const Turn& turn, std::uint64_t lap) noexcept {
  return turn.load(std::memory_order_acquire) == 2 * lap;  // (O)
}

/// It was full in this lap, and no longer is.
template <class Turn>
[[nodiscard]] bool piece_is_emptied(const Turn& turn, std::uint64_t lap) noexcept {
  return turn.load(std::memory_order_acquire) > 2 * lap + 1;  // (O)
}

template <class Turn>
void fill_piece(Turn& turn, std::uint64_t lap) noexcept {
  turn.store(2 * lap + 1, std::memory_order_release);  // (P)
}

template <class Turn>
[[nodiscard]] bool piece_is_full(const Turn& turn, std::uint64_t lap) noexcept {
  return turn.load(std::memory_order_acquire) == 2 * lap + 1;  // (C)
}

template <class Turn>
void free_piece(Turn& turn, std::uint64_t lap) noexcept {
  turn.store(2 * lap + 2, std::memory_order_seq_cst);  // (F)
}

/// The sender has found a buffer full for which it has a piece: whether it is free by now. If not,
/// the receiver notifies the sender of each buffer that it frees, until `wants` is 0. Later laps
/// need no store: the receiver has seen it when it sees their pieces.
template <class Wants, class Turn>
[[nodiscard]] bool is_free_or_wanted(Wants& wants, const Turn& turn, std::uint64_t lap) noexcept {
  if (wants.load(std::memory_order_relaxed) == 0) wants.store(1, std::memory_order_seq_cst);  // (Q)
  return turn.load(std::memory_order_seq_cst) == 2 * lap;  // (O')
}

/// After `free_piece`: whether the sender has to be notified.
template <class Wants>
[[nodiscard]] bool piece_is_wanted(const Wants& wants) noexcept {
  return wants.load(std::memory_order_seq_cst) != 0;  // (N)
}

// A claim has the number of its transfer, and how many of the first pieces are taken.
[[nodiscard]] constexpr bool is_claim_of(std::uint64_t claim, std::uint32_t number) noexcept {
  return claim >> 32 == number;
}
[[nodiscard]] constexpr std::uint32_t taken_pieces(std::uint64_t claim) noexcept {
  return static_cast<std::uint32_t>(claim);
}

/// Takes up to `wanted` of the `count` pieces of transfer `number`, the first ones that neither end
/// has taken, and, unless one end copies alone, no more than half of those left, so that both ends
/// finish together. Returns how many; 0: all are taken, or the claim belongs to another transfer
/// already.
template <class Claim>
[[nodiscard]] std::uint32_t claim_pieces(Claim& claim, std::uint32_t number, std::uint64_t count,
                                         std::uint32_t wanted, std::uint32_t& first,
                                         bool alone = false) noexcept {
  std::uint64_t seen = claim.load(std::memory_order_relaxed);
  while (is_claim_of(seen, number) && taken_pieces(seen) < count) {
    first = taken_pieces(seen);
    const std::uint64_t share = alone ? count - first : (count - first + 1) / 2;
    const auto taken = static_cast<std::uint32_t>(share < wanted ? share : wanted);
    if (claim.compare_exchange_weak(seen, seen + taken, std::memory_order_relaxed,  // (K)
                                    std::memory_order_relaxed))
      return taken;
  }
  return 0;
}

/// The receiver has read `bytes` from the sender's memory.
template <class Pulled>
void count_pulled(Pulled& pulled, std::uint64_t bytes) noexcept {
  pulled.fetch_add(bytes, std::memory_order_release);  // (R)
}

template <class Pulled>
[[nodiscard]] std::uint64_t pulled_bytes(const Pulled& pulled) noexcept {
  return pulled.load(std::memory_order_acquire);  // (D)
}

// A target is published with the lap of its transfer's line: the sender may complete a transfer
// through buffers alone, and reuse the line, before the receiver reads the first notice.
constexpr int target_bits = 48;  ///< of an address; memory above is not lent

/// 0: this address cannot be lent.
[[nodiscard]] constexpr std::uint64_t lent_target(std::uint64_t address,
                                                  std::uint32_t lap) noexcept {
  return address >> target_bits != 0 ? 0 : std::uint64_t{lap} << target_bits | address;
}

/// Where to write; 0: nothing is lent for this lap.
[[nodiscard]] constexpr std::uint64_t target_of(std::uint64_t lent, std::uint32_t lap) noexcept {
  const std::uint64_t address = lent & ((std::uint64_t{1} << target_bits) - 1);
  return lent_target(address, lap) == lent ? address : 0;
}

/// False: the receiver has revoked its targets. True: `end_placing` must follow.
template <class Placing, class Revoked>
[[nodiscard]] bool begin_placing(Placing& placing, const Revoked& revoked) noexcept {
  placing.exchange(1, std::memory_order_seq_cst);                 // (W)
  if (revoked.load(std::memory_order_seq_cst) == 0) return true;  // (V)
  placing.store(0, std::memory_order_relaxed);
  return false;
}

template <class Placing>
void end_placing(Placing& placing) noexcept {
  placing.store(0, std::memory_order_release);  // (E)
}

/// Revokes the receiver's targets. They may be reused once `is_placing` returns false.
template <class Revoked>
void revoke_targets(Revoked& revoked) noexcept {
  revoked.exchange(1, std::memory_order_seq_cst);  // (V')
}

template <class Placing>
[[nodiscard]] bool is_placing(const Placing& placing) noexcept {
  return placing.load(std::memory_order_seq_cst) != 0;  // (W')
}

}  // namespace headway::rails::shm
