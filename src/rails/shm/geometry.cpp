// The sizes of a segment and of its parts.
#include <algorithm>
#include <bit>

#include "rails/shm/layout.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {

bool geometry::sane() const noexcept {
  return slot_count > 0 && slot_count <= slots_max && std::has_single_bit(ring_bytes) &&
         ring_bytes >= page_bytes && ring_bytes <= (1u << 24) && piece_bytes >= page_bytes &&
         piece_bytes <= (1u << 20) && piece_bytes % page_bytes == 0 && piece_count > 0 &&
         piece_count <= pieces_max;
}

std::size_t geometry::eager_bytes() const noexcept {
  return std::min<std::size_t>(128 * 1024, ring_bytes / 8);
}

std::size_t geometry::whole_bytes() const noexcept {
  return std::min<std::size_t>(1024 * 1024, ring_bytes / 2);
}

std::size_t geometry::passed_bytes() const noexcept {
  return (whole_bytes() + 2 * page_bytes - 1) / page_bytes * page_bytes;  // with its header
}

/// As many as a process empties before it fills the next ones; fewer, or none, where memory is
/// scarce.
std::uint32_t geometry::spare_pieces() const noexcept {
  const auto emptied_at_once = static_cast<std::uint32_t>(copy_budget_bytes / piece_bytes);
  return std::min({emptied_at_once, piece_count / 8, spare_pieces_max});
}

std::size_t geometry::pieces_bytes() const noexcept {
  return std::size_t{piece_bytes} * (piece_count + spare_pieces());
}

std::size_t geometry::small_put_bytes() const noexcept {
  return std::min<std::size_t>(piece_bytes / 2, eager_bytes());
}

std::size_t geometry::slot_bytes() const noexcept {
  return control_bytes + ring_bytes + passed_bytes() + pieces_bytes() +
         std::size_t{piece_bytes} * reply_count;
}

std::size_t geometry::banks_at() const noexcept { return head_bytes + slot_count * slot_bytes(); }

std::size_t geometry::bytes_for(std::size_t sharers) const noexcept {
  return head_bytes + std::min<std::size_t>(sharers - 1, slot_count) * slot_bytes();
}

std::size_t geometry::total_bytes() const noexcept {
  return banks_at() + shm_slots::slots * shm_slots::banked_bytes;
}

}  // namespace headway::rails::shm
