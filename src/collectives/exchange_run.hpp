#pragma once

#include <cstdint>

#include "collectives/shared_banks.hpp"
#include "collectives/team.hpp"
#include "messages/request.hpp"

namespace headway::collectives {

/// What the parts of a `shared_exchange` have in common: which exchange it is, and how it goes.
/// Shape:    plain data; `begin` sets what is of one use.
/// Threads:  those of the exchange.
/// Errors:   `how` and `failed_rank` say what failed first.
struct exchange_run {
  /// At most so many bytes are copied from one call of `shared_exchange::advance` to the next.
  static constexpr std::int64_t advanced_at_once = 1024 * 1024;

  /// So many bytes or more, of all ranks together, leave the caches that the cores share before
  /// they are used. Each rank is assumed to show and to want as many as this one.
  static constexpr std::int64_t cached_bytes_max = 24 * 1024 * 1024;

  exchange_run(const team& t, shared_banks& b) noexcept : ranks(t), banks(b), memory(b.memory()) {}

  const team& ranks;
  shared_banks& banks;
  bank_memory& memory;
  // Set while it is built.
  rank_set sources;               ///< whose streams it reads
  std::int64_t wanted_bytes = 0;  ///< what it copies or combines of these streams

  // Set anew for each use.
  std::uint64_t number = 0;    ///< as it is in a line
  std::uint64_t counted = 0;   ///< as the ranks count exchanges
  bool failed_before = false;  ///< the operation has failed on this rank
  bool long_streams = false;   ///< some are longer than a bank
  bool past_caches = false;    ///< what it copies would leave the caches before it is used
  std::int64_t budget = 0;     ///< what may still be copied in this call
  bool moved = false;          ///< something was done in this call
  bool asked = false;  ///< the readers of earlier streams were woken for the place of this one
  messages::outcome how = messages::outcome::ok;
  int failed_rank = -1;

  void begin(const exchange_numbers& its) noexcept {
    number = its.in_line;
    counted = its.counted;
    failed_before = false;
    asked = false;
    how = messages::outcome::ok;
    failed_rank = -1;
  }
  /// The first failure counts.
  void fail(messages::outcome why, int rank) noexcept {
    if (how != messages::outcome::ok) return;
    how = why;
    failed_rank = rank;
  }
};

/// An entry of the table at the beginning of a stream with a part for each reader. Its size divides
/// a bank's, so that no entry lies on both sides of a bank's end.
struct stream_entry {
  /// The offset in the stream; of a lent part, which is not in it, the address.
  std::uint64_t place;
  std::uint64_t bytes : 63;
  std::uint64_t is_lent : 1;
};
inline constexpr std::int64_t stream_entry_bytes = 16;
static_assert(sizeof(stream_entry) == stream_entry_bytes);

}  // namespace headway::collectives
