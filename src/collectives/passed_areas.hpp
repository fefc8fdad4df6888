#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/spinlock.hpp"
#include "rails/passed_buffers.hpp"
#include "rails/shm_slots.hpp"

namespace headway::collectives {

/// Two areas of shared memory that the two ranks of a team pass to each other with the streams of
/// their exchanges: a rank shows its stream where it has read one of the other rank last, if it
/// owns such an area (rails/passed_buffers.hpp). So its stores find their cache lines on its own
/// core. docs/decisions/0057-passed-areas.md has the figures.
/// Shape:    one stream in an area, of at most `bytes_max` bytes. Each rank reserves memory of its
///           own area as it shows longer streams, and none before the first; a stream goes there
///           once both have as much as it needs.
/// Threads:  any.
/// Progress: never waits; enters the kernel to reserve memory, at most a few times.
class passed_areas {
 public:
  static constexpr auto bytes_max = static_cast<std::int64_t>(rails::shm_slots::passed_bytes);

  /// The areas of a slot, of which both processes have reserved the banks.
  passed_areas(rails::shm_slots& memory, std::uint32_t slot, rails::peer_id own,
               rails::peer_id other) noexcept;
  passed_areas(const passed_areas&) = delete;
  passed_areas& operator=(const passed_areas&) = delete;

  /// For a stream of so many bytes, which the other rank reads; null: it must go elsewhere.
  [[nodiscard]] std::byte* take(std::int64_t bytes, rails::passed_place& where) noexcept;
  /// Where the other rank's stream is; null: it has shown none there.
  [[nodiscard]] const std::byte* find(rails::passed_place where) const noexcept {
    return buffers_.find(where);
  }
  /// The other rank has written all of its stream there, and this rank needs it no more.
  void read(rails::passed_place where) noexcept;

 private:
  /// How much of the area of a process is reserved: in the last line of its page, which has nothing
  /// else. The process itself writes it.
  using reserved = std::atomic<std::int64_t>;
  [[nodiscard]] static reserved& reserved_in(std::byte* page) noexcept;

  [[nodiscard]] bool has_room(std::int64_t bytes) noexcept;
  [[nodiscard]] bool reserve(std::int64_t bytes) noexcept;

  rails::shm_slots& memory_;
  const std::uint32_t slot_;
  reserved& own_;
  const reserved& others_;
  std::atomic<std::int64_t> both_{0};   // known to be reserved by both; a hint: relaxed
  std::atomic<bool> reserving_{false};  // for good, if there is no memory
  base::spinlock lock_;                 // of `take` and `read`
  rails::passed_buffers<> buffers_;
};

}  // namespace headway::collectives
