#pragma once

#include <cstddef>
#include <cstdint>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/passed_buffers.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// Two areas of shared memory that the two ranks of a team pass to each other with the streams of
/// their exchanges: a rank shows its stream where it has read one of the other rank last, if it
/// owns such an area (rails/passed_buffers.hpp). So its stores find their cache lines on its own
/// core. docs/decisions/0057-passed-areas.md has the figures.
/// Shape:    `bytes_max` bytes for a stream, one stream in an area.
/// Threads:  any.
/// Progress: never waits.
class passed_areas {
 public:
  static constexpr auto bytes_max = static_cast<std::int64_t>(rails::shm_slots::passed_bytes);

  /// Both ranks have reserved the areas of a slot: that of this rank, and the other one's.
  passed_areas(std::byte* own, std::byte* others) noexcept {
    buffers_.set_own(own);
    buffers_.set_peers(others);
  }
  passed_areas(const passed_areas&) = delete;
  passed_areas& operator=(const passed_areas&) = delete;

  /// For a stream of so many bytes, which the other rank reads; null: elsewhere.
  [[nodiscard]] std::byte* take(std::int64_t bytes, rails::passed_place& where) noexcept {
    if (bytes > bytes_max || !buffers_.any()) return nullptr;
    const base::lock_guard guard(lock_);
    return buffers_.take(where);
  }
  /// Where the other rank's stream is; null: it has shown none there.
  [[nodiscard]] const std::byte* find(rails::passed_place where) const noexcept {
    return buffers_.find(where);
  }
  /// The other rank has written all of its stream there, and this rank needs it no more.
  void read(rails::passed_place where) noexcept {
    const base::lock_guard guard(lock_);
    buffers_.read(where);
  }

 private:
  base::spinlock lock_;  // of `take` and `read`
  rails::passed_buffers<> buffers_;
};

}  // namespace headway::collectives
