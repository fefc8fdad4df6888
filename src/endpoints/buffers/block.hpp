#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "base/atomic.hpp"
#include "base/intrusive_list.hpp"
#include "base/process_edge.hpp"

namespace headway::endpoints {

/// The destination of a message: an end-point of a process of the job. Id 0: none.
struct address {
  std::uint32_t process = 0;  ///< its rank in the job
  std::uint32_t id = 0;       ///< of the end-point there: its slot and how often that was used

  friend bool operator==(const address&, const address&) = default;
};

struct block;

/// A message that waits in an inbox. It is in the header of the block with its contents, or, if
/// that parcel is in use (a kept buffer can wait in several inboxes), of an empty block.
struct parcel : base::list_hook<> {
  block* contents = nullptr;
  std::size_t bytes = 0;
  address from;
  std::int32_t tag = 0;
  std::uint16_t charge = 0;  ///< units of the sender's credit at this end-point
  bool lent = false;         ///< the sender keeps the buffer
  bool ready = true;         ///< false: announced, its bytes are still under way
};

/// The header in front of every buffer.
/// Shape:    two cache lines, then the data, which begin on a line of their own (on a page from 64
///           KiB on). It lies in the region of the process that made it, and all processes that map
///           the region see it; `waits` belongs to the process in whose inbox it is.
/// Threads:  `state` any; everything else the thread or message that holds the buffer.
struct alignas(64) block {
  // state == free_state                  in the pool
  // state == flying                      sent away, and not received yet
  // state == landed                      the same, in an inbox of another process than its sender's
  // state == held | n                    its holder has it, and n messages or receivers share it
  // state == n > 0                       n receivers share it, and it has no holder
  // Hazards, and the edge that removes each:
  //   a holder sees half of what an earlier one wrote    (R) release -> (A) acquire on `state`,
  //                                                      besides the lists' own edges
  static constexpr std::uint32_t held = 1u << 31, free_state = 1u << 30, flying = 1u << 29,
                                 landed = 1u << 28;
  static constexpr std::uint32_t mark_value = 0x68776270;
  static constexpr std::uint32_t heap_mark = 0x68776271;  ///< of pool::heap_block
  static constexpr std::uint32_t nobody = UINT32_MAX, several = UINT32_MAX - 1;
  static constexpr std::size_t waits_offset = 64;  ///< of `waits`: the second line
  static constexpr unsigned class_min = 6, class_max = 36;

  std::uint32_t mark = mark_value;
  base::atomic<std::uint32_t> state{free_state};
  std::uint64_t job = 0;         ///< identifies the job
  std::uint64_t place = 0;       ///< of this header in its region, in bytes
  std::uint64_t next = 0;        ///< place of the next in a list of free or returned blocks
  std::uint32_t owner = 0;       ///< the process that made it
  std::uint32_t size_class = 0;  ///< the data are 2^size_class bytes
  // Relaxed: they name the processes whose death frees the buffer, and carry no data.
  base::atomic<std::uint32_t> holder{nobody};  ///< the process that has it, or that it is sent to
  base::atomic<std::uint32_t> lent_to{
      nobody};                 ///< the process that shares it, if there is one only
  std::uint32_t checksum = 0;  ///< of what was sent, where checks are on
  alignas(64) parcel waits;
  /// From a thread that gives a block to another process to one that has it from there. Of all
  /// blocks.
  static inline base::process_edge elsewhere;

  [[nodiscard]] std::size_t capacity() const noexcept { return std::size_t{1} << size_class; }
  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  [[nodiscard]] const std::byte* data() const noexcept {
    return reinterpret_cast<const std::byte*>(this + 1);
  }
};
static_assert(sizeof(block) == 128);

constexpr std::uint64_t page_bytes = 4096;

/// Where a block of a class lies in its region: it needs `stride` bytes from a multiple of
/// `alignment` on, and its header is `header_offset` behind their begin.
struct block_layout {
  std::uint64_t alignment, header_offset, stride;
  [[nodiscard]] constexpr std::uint64_t align(std::uint64_t place) const noexcept {
    return (place + alignment - 1) / alignment * alignment;
  }
};
[[nodiscard]] constexpr block_layout layout_of(unsigned size_class) noexcept {
  constexpr unsigned page_class = 16;        // from here on data begin on a page
  constexpr std::uint64_t pair_bytes = 128;  // processors fetch lines in pairs: none is shared
  const auto data_bytes = std::uint64_t{1} << size_class;
  if (size_class >= page_class)
    return {page_bytes, page_bytes - sizeof(block), page_bytes + data_bytes};
  return {pair_bytes, 0, (sizeof(block) + data_bytes + pair_bytes - 1) / pair_bytes * pair_bytes};
}

/// A free block at `place` of the region of the process `owner`, which is `memory` here.
inline block* make_block(void* memory, std::uint64_t place, std::uint64_t job, std::uint32_t owner,
                         unsigned size_class) noexcept {
  auto* b = new (memory) block;
  b->job = job;
  b->place = place;
  b->owner = owner;
  b->size_class = size_class;
  return b;
}

/// The block whose header `p` lies in.
[[nodiscard]] inline block& block_of(parcel& p) noexcept {
  return *reinterpret_cast<block*>(reinterpret_cast<std::byte*>(&p) - block::waits_offset);
}

}  // namespace headway::endpoints
