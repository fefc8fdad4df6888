#pragma once

#include <cstdint>

namespace headway::messages {

/// The table of all context numbers and tags that have a fixed meaning. Nothing else defines one.

/// Context numbers are 16 bits on the wire. They are given out in pairs: pair n is the contexts 2n
/// (messages of the program) and 2n + 1 (collective operations).
inline constexpr std::uint32_t contexts_max = std::uint32_t{1} << 16;

namespace context_pair {
inline constexpr std::uint32_t world = 0;       ///< MPI_COMM_WORLD
inline constexpr std::uint32_t self = 1;        ///< MPI_COMM_SELF
inline constexpr std::uint32_t job = 2;         ///< all processes of the job, for the library's use
inline constexpr std::uint32_t endpoints = 3;   ///< large messages of end-points, in context 2n
inline constexpr std::uint32_t first_free = 4;  ///< the first that members of a group agree on
inline constexpr std::uint32_t count = contexts_max / 2;
}  // namespace context_pair

/// A context. Its number is that of another context once it is closed, and its late packets may
/// then still come.
struct context_name {
  /// `as`: the same on all members, and another one for each context with that number. Contexts
  /// that are opened once have 0.
  constexpr context_name(std::uint32_t of, std::uint64_t as = 0) noexcept
      : number(of), incarnation(as) {}
  std::uint32_t number;
  std::uint64_t incarnation;
};

/// Tags in contexts of the program: 0 to `program_tag_max` (MPI_TAG_UB).
inline constexpr int program_tag_max = 0x3fffffff;

/// A range of tags in collective contexts.
struct tag_range {
  int first;
  int last;
  [[nodiscard]] constexpr std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(last - first) + 1;
  }
  /// The tag for a number of any size: tags repeat after `size()` numbers.
  [[nodiscard]] constexpr int of(std::uint32_t number) const noexcept {
    return first + static_cast<int>(number % size());
  }
  [[nodiscard]] constexpr bool has(int tag) const noexcept { return first <= tag && tag <= last; }
};
/// Bits of a rank in an envelope; the others are for `label::history`.
inline constexpr unsigned rank_bits = 22;
inline constexpr int ranks_max = 1 << rank_bits;
/// What messages bear beside their sender's rank: those with another label do not match.
struct label {
  constexpr label(int of) noexcept : tag(of) {}
  /// `all_before`: operation_log::history of the sender, up to the message's operation.
  constexpr label(int of, std::uint64_t all_before) noexcept
      : tag(of), history(static_cast<std::uint16_t>(all_before >> (64 - history_bits))) {}
  static constexpr unsigned history_bits = 32 - rank_bits;
  int tag;
  std::uint16_t history = 0;
};

/// One for each collective operation, in the order of the calls.
inline constexpr tag_range operation_tags{0, 0x1fffffff};
/// For the barrier of MPI_Finalize.
inline constexpr int farewell_tag = 0x20000000;
/// One-sided communication: requests of origins, MPI_Win_post.
inline constexpr int window_request_tag = 0x20000001;
inline constexpr int window_post_tag = 0x20000002;
/// What a rank has recorded of its calls (HEADWAY_REPORT): its length, then the bytes.
inline constexpr int report_tag = 0x20000003;
/// What a target answers, and the bytes of large puts: under tags that their origin has chosen.
inline constexpr tag_range window_answer_tags{0x21000000, 0x2fffffff};
inline constexpr tag_range window_data_tags{0x30000000, 0x3effffff};
/// One for each agreement of all members of a communicator, in the order of the calls.
inline constexpr tag_range agreement_tags{0x3f000000, 0x3fffffff};
/// For agreements of some members: the program's tag, or a hash of its text.
inline constexpr tag_range group_agreement_tags{0x40000000, 0x7fffffff};

/// Partitioned communication, which takes the negative tags but -1. A pair of a sender's and a
/// receiver's operation begins with one message, under the program's tag counted from `first`.
inline constexpr tag_range partition_setup_tags{INT32_MIN, INT32_MIN + program_tag_max};
/// A partition has one of these, which its sender has chosen.
inline constexpr tag_range partition_tags{partition_setup_tags.last + 1, -2};

static_assert(operation_tags.last < farewell_tag && farewell_tag < window_request_tag &&
              window_post_tag < report_tag && report_tag < window_answer_tags.first &&
              window_answer_tags.last < window_data_tags.first &&
              window_data_tags.last < agreement_tags.first &&
              agreement_tags.last < group_agreement_tags.first);
static_assert(group_agreement_tags.size() > program_tag_max);

}  // namespace headway::messages
