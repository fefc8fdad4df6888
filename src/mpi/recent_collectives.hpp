#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "collectives/choice.hpp"
#include "collectives/schedule_cache.hpp"

namespace headway::mpi {

/// What a blocking collective was called with. Predefined types and operations only, which nobody
/// can free: two equal keys mean equal steps.
struct collective_key {
  collectives::collective what;
  int root = 0;
  const void* send = nullptr;
  const void* receive = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type = nullptr;
  MPI_Op op = nullptr;

  bool operator==(const collective_key&) const = default;
};

/// The schedules of a communicator's last blocking collectives: programs repeat their calls, and
/// running a schedule again costs a third of making it (8-byte allreduce on 2 ranks: 423 of 1373
/// instructions without its messages, counted by callgrind).
/// Shape:    `slot_count` schedules with what they hold; small messages only.
/// Threads:  one at a time, as collectives on a communicator are.
class recent_collectives {
 public:
  /// Beyond this the messages cost so much more than the steps that memory is better given back.
  static constexpr std::int64_t bytes_max = 8 * 1024;

  struct slot {
    collective_key key = {};
    collectives::schedule_ptr steps = nullptr;
  };
  /// Where this call is, or would be kept.
  [[nodiscard]] slot& slot_of(const collective_key& key) noexcept {
    auto mixed = reinterpret_cast<std::uintptr_t>(key.send) / 8 * 31 +
                 reinterpret_cast<std::uintptr_t>(key.receive) / 8 * 7 +
                 static_cast<std::uintptr_t>(key.count) + static_cast<std::uintptr_t>(key.what);
    return slots_[mixed % slot_count];
  }

  /// What equal keys mean has changed.
  void forget() noexcept { slots_ = {}; }

 private:
  static constexpr std::size_t slot_count = 4;
  std::array<slot, slot_count> slots_;
};

}  // namespace headway::mpi
