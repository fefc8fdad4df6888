#include "packets/left_announcements.hpp"

#include <array>
#include <cstring>

#include "base/lock_guard.hpp"
#include "packets/control.hpp"
#include "packets/peer_state.hpp"

namespace headway::packets {
namespace {

/// False: another thread sends to the peer.
bool wake(peer_state& whom) noexcept {
  constexpr control nothing_but_credit{.what = control_kind::credit};
  std::array<std::byte, sizeof nothing_but_credit> head;
  std::memcpy(head.data(), &nothing_but_credit, sizeof nothing_but_credit);
  return whom.post_now({.head = head});
}

}  // namespace

left_announcements::left_announcements(progress::engine& engine) noexcept : engine_(engine) {
  engine_.set_deferred([](void* self) noexcept { static_cast<left_announcements*>(self)->hurry(); },
                       this);
}

left_announcements::~left_announcements() { engine_.set_deferred(nullptr, nullptr); }

void left_announcements::note(peer_state& whom) noexcept {
  {
    const base::lock_guard guard(lock_);
    if (static_cast<hook&>(whom).linked()) return;
    list_.push_back(whom);
  }
  engine_.defer();
}

peer_state* left_announcements::take() noexcept {
  const base::lock_guard guard(lock_);
  return list_.pop_front();
}

void left_announcements::hurry() noexcept {
  while (peer_state* const whom = take()) {
    const bool answered = whom->transfers_under_way.load(std::memory_order_relaxed) == 0;  // a hint
    if (!answered && !whom->lost() && !wake(*whom)) return note(*whom);
  }
}

}  // namespace headway::packets
