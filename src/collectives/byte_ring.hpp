#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "collectives/rank_set.hpp"
#include "collectives/used_extent.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// Bytes of this rank's shared memory that streams of its persistent operations take in turns, each
/// in one piece. Banks that they have alone would be so small that their lines still lie in the
/// readers' caches when they are written again, which takes twice as long (decision 21).
/// Shape:    at most half of it for a stream, and `streams_max` streams. They go round in few of
///           its bytes (used_extent.hpp), and more of it only where those may still be read.
/// Threads:  any.
/// Progress: never waits. Where other streams may still be read, the answer is nothing: then the
///           operation uses its own bank, so that none waits for the readers of another one.
class byte_ring {
 public:
  /// `where`: begin and length in the memory of a slot.
  struct extent {
    std::size_t at;
    std::int64_t bytes;
  };
  byte_ring(rails::shm_slots& memory, std::span<const rails::peer_id> processes, std::uint32_t slot,
            const extent& where, bool oversubscribed);
  byte_ring(const byte_ring&) = delete;
  byte_ring& operator=(const byte_ring&) = delete;

  [[nodiscard]] const extent& where() const noexcept { return where_; }

  /// A stream of the banks whose page is there.
  struct stream {
    std::size_t page_at;
    std::uint64_t exchange;
    rank_set readers;
  };
  /// Where so many bytes for the stream begin in the ring; nothing: there is no room now.
  [[nodiscard]] std::optional<std::int64_t> take(const stream& what, std::int64_t bytes) noexcept;

 private:
  struct taken : stream {
    std::int64_t begin, end;
  };
  [[nodiscard]] bool is_read(const stream& s) const noexcept;
  /// Forgets streams that were read. False: others may still read where these bytes are.
  [[nodiscard]] bool make_room(std::int64_t begin, std::int64_t bytes) noexcept
      HEADWAY_REQUIRES(lock_);
  /// The oldest stream lies where `bytes` from `begin` on are, or in what is skipped before.
  [[nodiscard]] bool is_in_the_way(std::int64_t begin, std::int64_t bytes) const noexcept
      HEADWAY_REQUIRES(lock_);

  std::vector<std::byte*> areas_;  // of each rank
  const extent where_;
  base::spinlock lock_;
  // What others may still read, from the oldest on: each lies behind the one before, or at the
  // beginning.
  static constexpr std::size_t streams_max = 64;
  std::array<taken, streams_max> taken_ HEADWAY_GUARDED_BY(lock_) = {};
  std::size_t first_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::size_t count_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::int64_t next_ HEADWAY_GUARDED_BY(lock_) = 0;
  used_extent used_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::collectives
