#pragma once

#include "base/intrusive_list.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "progress/core/engine.hpp"

namespace headway::packets {

class peer_state;

/// The peers that were sent an rts for which they are not woken (`can_wait`, see rails::packet).
/// Where ranks compute on every processor, the message moves when either end waits: a receiver that
/// waits finds the rts; once a thread of this process waits, the peer is sent a packet that ends
/// its sleep (docs/decisions/0036).
/// Threads:  any.
/// Progress: never waits: short locks. A peer to which another thread sends just then is tried
///           again by the next thread that waits or polls.
class left_announcements {
 public:
  using hook = base::list_hook<left_announcements>;  ///< in each peer; under the list's lock

  explicit left_announcements(progress::engine& engine) noexcept;
  ~left_announcements();
  left_announcements(const left_announcements&) = delete;
  left_announcements& operator=(const left_announcements&) = delete;

  /// An rts that can wait has left for this peer, or will soon.
  void note(peer_state& whom) noexcept;
  /// Wakes those peers that have not answered.
  void hurry() noexcept;

 private:
  /// The peer that was noted first, or null.
  [[nodiscard]] peer_state* take() noexcept;

  progress::engine& engine_;
  base::spinlock lock_;
  base::intrusive_list<peer_state, left_announcements> list_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::packets
