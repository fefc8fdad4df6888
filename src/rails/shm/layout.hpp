#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rails/passed_buffers.hpp"
#include "rails/shm/passed_pieces.hpp"
#include "rails/shm/ring.hpp"
#include "rails/shm_slots.hpp"

namespace headway::rails::shm {

// The layout of a process's segment: memory that belongs to the receiver and is written by its
// peers.
//
//   segment_head | shared lines
//   slot 0: slot_control, ring, passed buffer, piece buffers, reply buffers | slot 1 … | banks
//
// A peer that attaches claims a slot and is from then on the only one that writes there, but for
// the reply buffers, which the owner writes, and what they pass to each other (passed_buffers.hpp,
// passed_pieces.hpp). Every line has one writer unless its comment says otherwise; in the shared
// lines and banks (shm_slots.hpp) that is the owner, but for what two ranks pass to each other
// behind the banks. The file is sparse: what was never touched takes no memory. Zero bytes are the
// valid empty state of everything but the head's first lines.

constexpr std::size_t line_bytes = 64;
constexpr std::size_t cell_bytes = line_bytes / cells_per_line;  ///< of a ring
constexpr std::uint32_t slots_max = 512;                         ///< peers on one machine
constexpr std::uint32_t pieces_max = 64;                         ///< of a slot
constexpr std::uint32_t transfers_max = 16;  ///< large payloads under way to one receiver
/// atomics of one sender without an answer; the same number of gets
constexpr std::uint32_t calls_max = 8;
constexpr std::uint32_t reply_count = 2;  ///< buffers of a slot for replies to gets, one piece each
constexpr std::uint64_t layout_magic = 0x6879'6177'6461'6568;
constexpr std::uint32_t layout_version = 17;

using token = std::array<std::byte, 16>;

/// The sizes of a segment. If read from foreign memory, check `sane` first.
struct geometry {
  std::uint32_t slot_count = 0;
  std::uint32_t ring_bytes = 0;   ///< a power of two
  std::uint32_t piece_bytes = 0;  ///< a multiple of a page
  std::uint32_t piece_count = 0;  ///< lines of pieces, each with a buffer; more are spare

  [[nodiscard]] bool sane() const noexcept;
  /// The longest payload of a packet. The ring has room for several.
  [[nodiscard]] std::size_t eager_bytes() const noexcept;
  /// The longest payload of a packet in a passed buffer.
  [[nodiscard]] std::size_t whole_bytes() const noexcept;
  [[nodiscard]] std::size_t passed_bytes() const noexcept;    ///< of a passed buffer: whole pages
  [[nodiscard]] std::uint32_t spare_pieces() const noexcept;  ///< buffers for passed_pieces.hpp
  [[nodiscard]] std::size_t pieces_bytes() const noexcept;    ///< of all buffers for pieces
  /// The longest put that goes through the ring.
  [[nodiscard]] std::size_t small_put_bytes() const noexcept;
  [[nodiscard]] std::size_t slot_bytes() const noexcept;
  [[nodiscard]] std::size_t banks_at() const noexcept;
  [[nodiscard]] std::size_t total_bytes() const noexcept;
  /// What a segment needs, without banks, if so many processes use it, its owner included.
  [[nodiscard]] std::size_t bytes_for(std::size_t sharers) const noexcept;
  bool operator==(const geometry&) const = default;
};

/// Identifies a segment. Constant once the file has its name.
struct segment_label {
  std::uint64_t magic;
  std::uint32_t version;
  geometry shape;
  token proof;
};

struct segment_head {
  segment_label label;
  alignas(line_bytes) std::atomic<std::uint32_t> bell;  // owner and peers: doorbell.hpp
  // The same for a receiver that sleeps, but not for packets that can wait: peers that send only
  // such packets do not read this line, so the owner may write it with each message.
  alignas(line_bytes) std::atomic<std::uint32_t> hurry_bell;
  alignas(line_bytes) std::atomic<std::uint32_t> claimed;  // peers; slots given out
  alignas(line_bytes) std::array<std::atomic<std::uint64_t>, slots_max / 64> active;  // peers
};

/// A large payload under way. Both ends take pieces of it by `claim`.
struct alignas(line_bytes) transfer_line {
  std::atomic<std::uint64_t> claim;  // number of the transfer << 32 | next piece to be taken
  // receiver; where the sender may write directly, combined with lap_of
  std::atomic<std::uint64_t> target;
  std::atomic<std::uint64_t> pulled;    // receiver; bytes that it has read from the sender's memory
  std::atomic<std::uint64_t> returned;  // receiver; 1 + the piece that it could not read
  // receiver, before `target`; 1: the sender is to copy everything; the sender writes 0 if it
  // cannot write there
  std::atomic<std::uint64_t> alone;
};

/// How often its line was used before transfer `number`; 16 bits suffice, as a receiver lags by 2
/// at most.
[[nodiscard]] constexpr std::uint16_t lap_of(std::uint32_t number) noexcept {
  return static_cast<std::uint16_t>(number / transfers_max);
}

/// What is said of a piece in a buffer.
struct alignas(line_bytes) piece_line {
  std::atomic<std::uint64_t> turn;  // 2 × lap: free; 2 × lap + 1: full. Both ends write, in turns
  std::uint32_t transfer;           // sender, while it is free; and so below
  std::uint32_t bytes;
  std::uint64_t offset;
  std::uint32_t placed;          // 1: the buffer is empty, its bytes are at the target already
  passed_pieces<>::name buffer;  // the end whose turn it is
};

/// The answer to an atomic that the peer has requested; the owner writes it.
struct alignas(line_bytes) answer_line {
  std::atomic<std::uint64_t> turn;  // 1 + the number of the call that this answers
  std::uint64_t before;             // the word before the operation; written first, as is the next
  std::uint32_t well;               // 0: it was refused
};

/// The head of a reply buffer, with a part of what the peer gets.
struct alignas(line_bytes) reply_line {
  std::atomic<std::uint64_t> turn;  // as a piece's; the owner fills it, the peer frees it
  std::uint32_t bytes;              // 0: the get is refused
};

struct slot_control {
  alignas(line_bytes) std::atomic<std::uint64_t> job;  // peer, once: its name
  std::atomic<std::uint32_t> rank_plus_one;            // the same
  std::atomic<std::uint32_t> left;                     // peer; 1: it has closed
  std::atomic<std::uint64_t> hurried;  // peer; the ring's cells up to here cannot wait
  alignas(line_bytes) std::atomic<std::uint64_t> consumed;  // owner; lines of the ring
  std::atomic<std::uint32_t> wants_room;                    // peer sets, owner clears
  std::atomic<std::uint32_t> wants_buffer;                  // peer; 1: it waits for a free one
  std::atomic<std::uint32_t> pulls;  // owner; 1: it can read the peer's memory
  alignas(line_bytes) std::atomic<std::uint32_t> placing;  // peer; 1: writes at a target now
  std::atomic<std::uint32_t> revoked;  // owner; 1: no target is valid any more, for good
  std::array<transfer_line, transfers_max> transfers;
  std::array<piece_line, pieces_max> pieces;
  std::array<answer_line, calls_max> answers;
  std::array<reply_line, reply_count> replies;
};

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t shared_lines_at = page_bytes;
constexpr std::size_t head_bytes = shared_lines_at + shm_slots::total_bytes;
constexpr std::size_t control_bytes = 2 * page_bytes;
static_assert(sizeof(segment_head) <= shared_lines_at && head_bytes % page_bytes == 0);
static_assert(sizeof(slot_control) <= control_bytes);
static_assert(sizeof(transfer_line) == line_bytes && sizeof(piece_line) == line_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// The kind of a record in the ring, in its first word; the word 0 is no record yet.
enum class record_kind : std::uint8_t {
  skip = 1,  ///< no record: skip as many cells as `bytes` says
  packet,    ///< header and payload; some of it may follow
  put,       ///< a put_prefix, then the bytes
  transfer,  ///< a transfer_notice
  atomic,    ///< an atomic_call
  get,       ///< a get_call
  more,      ///< what follows of a packet
};

struct record_head {
  record_kind kind;
  std::size_t bytes = 0;      ///< less than 2^24
  std::size_t following = 0;  ///< bytes of a packet in later records, less than 2^24
  std::size_t gap = 0;        ///< bytes between the word and the record's bytes: see `gap_before`
  passed_place place = passed_place::none;
};
[[nodiscard]] constexpr std::uint64_t record_word(const record_head& head) noexcept {
  return static_cast<std::uint64_t>(head.place) << 62 | static_cast<std::uint64_t>(head.gap) << 56 |
         static_cast<std::uint64_t>(head.bytes) << 32 |
         static_cast<std::uint64_t>(head.following) << 8 | static_cast<std::uint64_t>(head.kind);
}
[[nodiscard]] constexpr record_head read_record_word(std::uint64_t word) noexcept {
  return {.kind = static_cast<record_kind>(word & 0xff),
          .bytes = word >> 32 & 0xff'ffff,
          .following = word >> 8 & 0xff'ffff,
          .gap = word >> 56 & 0x3f,
          .place = static_cast<passed_place>(word >> 62)};
}

struct put_prefix {
  std::uint64_t id;  // of the exposure
  std::uint64_t offset;
};

/// Whether a receiver lends the target of a transfer to the sender.
enum class lending : std::uint16_t {
  none,     ///< the sender could not write there
  if_left,  ///< where the receiver computes and leaves the copying to the sender
  always,
};

struct transfer_notice {
  std::uint32_t number;
  lending lends;
  std::uint16_t attends;  // 1: the sending thread waits for completion
  std::uint64_t id;       // of the exposure
  std::uint64_t offset;   // there
  std::uint64_t bytes;
  std::uint64_t address;  // of the payload in the sender's memory
};

struct atomic_call {
  std::uint64_t id;  // of the exposure
  std::uint64_t offset;
  std::uint64_t operand;
  std::uint64_t expected;
  std::uint32_t number;
  std::uint32_t what;  // an `operation`
};

struct get_call {
  std::uint64_t id;  // of the exposure
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// The gap after a record's word that puts a payload behind `header_bytes` as far from the
/// beginning of a line as it is in the sender's memory, or, if it is short, of half a line: where
/// the receiver's memory is, too, no vector of the two copies lies in two lines
/// (docs/decisions/0026-large-rings.md).
[[nodiscard]] inline std::size_t gap_before(std::span<const std::byte> payload,
                                            std::size_t header_bytes) noexcept {
  constexpr std::size_t long_bytes_min = 1024;
  const auto before = sizeof(std::uint64_t) + header_bytes;
  if (before + payload.size() <= line_bytes) return 0;
  const auto place = reinterpret_cast<std::uintptr_t>(payload.data());
  const auto unit = payload.size() < long_bytes_min ? line_bytes / 2 : line_bytes;
  return (place - before) & (unit - 1) & ~std::size_t{7};  // a power of two: no division
}
constexpr std::size_t gap_max = line_bytes - 8;
static_assert(gap_max < 64);  // of a record's word

/// Cells that a record takes with `bytes` after its word, gap included: one, or those of whole
/// lines.
[[nodiscard]] constexpr std::uint64_t cells_of(std::uint64_t bytes) noexcept {
  const auto all = sizeof(std::uint64_t) + bytes;
  return all <= cell_bytes ? 1 : (all + line_bytes - 1) / line_bytes * cells_per_line;
}

/// The same of any record.
[[nodiscard]] constexpr std::uint64_t cells_in_ring(const record_head& head) noexcept {
  return head.place == passed_place::none ? cells_of(head.gap + head.bytes) : 1;
}

/// The parts of a slot in a mapped segment.
struct slot_view {
  slot_control* control = nullptr;
  std::byte* ring = nullptr;
  std::byte* passed = nullptr;
  std::byte* pieces = nullptr;
  std::byte* replies = nullptr;
};

/// The buffers for pieces of a slot.
[[nodiscard]] inline passed_pieces<>::area buffers_of(const slot_view& slot,
                                                      const geometry& shape) noexcept {
  return {.begin = slot.pieces,
          .piece_bytes = shape.piece_bytes,
          .lines = shape.piece_count,
          .spare = shape.spare_pieces()};
}

}  // namespace headway::rails::shm
