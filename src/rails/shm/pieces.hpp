#pragma once

#include <atomic>
#include <cstdint>

namespace headway::rails::shm {

// How the pieces of a large payload go from a sender to one receiver: both take pieces by a claim,
// so that each is copied once; the sender's go through a ring of buffers, in turns; the receiver
// reads its own out of the sender's memory and counts them.
//
//   turn of buffer b == 2 × lap       free: the sender's
//   turn of buffer b == 2 × lap + 1   full: the receiver's
//
// Hazards, and the edge that removes each:
//   half-written piece read             (P) release -> (C) acquire
//   piece overwritten while it is read  (F) release -> (O) acquire
//   payload reused while it is read     (R) release -> (D) acquire
//   piece copied twice, or never        (K) one exchange wins each; relaxed, it carries no data
// Checked by: tests/model/shm_pieces_model.cpp (mutations there), tests/stress/shm_stress.cpp.

template <class Turn>
[[nodiscard]] bool piece_is_free(const Turn& turn, std::uint64_t lap) noexcept {
  return turn.load(std::memory_order_acquire) == 2 * lap;  // (O)
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
  turn.store(2 * lap + 2, std::memory_order_release);  // (F)
}

/// Takes up to `wanted` of the `count` pieces of transfer `number`, from the first that nobody
/// took. How many; 0: all are taken, or the claim is already another transfer's.
template <class Claim>
[[nodiscard]] std::uint32_t claim_pieces(Claim& claim, std::uint32_t number, std::uint64_t count,
                                         std::uint32_t wanted, std::uint32_t& first) noexcept {
  std::uint64_t seen = claim.load(std::memory_order_relaxed);
  while (seen >> 32 == number && (seen & 0xffff'ffff) < count) {
    first = static_cast<std::uint32_t>(seen);
    const std::uint64_t left = count - first;
    const auto taken = static_cast<std::uint32_t>(left < wanted ? left : wanted);
    if (claim.compare_exchange_weak(seen, seen + taken, std::memory_order_relaxed,  // (K)
                                    std::memory_order_relaxed))
      return taken;
  }
  return 0;
}

/// The receiver has read `bytes` out of the sender's memory.
template <class Pulled>
void count_pulled(Pulled& pulled, std::uint64_t bytes) noexcept {
  pulled.fetch_add(bytes, std::memory_order_release);  // (R)
}

template <class Pulled>
[[nodiscard]] std::uint64_t pulled_bytes(const Pulled& pulled) noexcept {
  return pulled.load(std::memory_order_acquire);  // (D)
}

}  // namespace headway::rails::shm
