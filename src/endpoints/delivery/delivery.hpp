#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "endpoints/buffers/pool.hpp"
#include "endpoints/delivery/local_endpoints.hpp"
#include "endpoints/delivery/outcome.hpp"
#include "endpoints/settings.hpp"
#include "endpoints/wire/packet_sender.hpp"

namespace headway::endpoints {

/// Moves messages into the inboxes of this process's end-points and out of them, and returns credit
/// to their senders.
///
/// Threads:  any.
/// Locks:    an inbox's two; none is held while one of another object is taken.
/// Progress: `put` and `receive` wait at the engine for room and for a message; the rest never.
class delivery {
 public:
  delivery(pool& buffers, packet_sender& out, message_source& source, std::uint32_t self,
           const settings& chosen)
      : here_(source, out.engine()),
        buffers_(buffers),
        out_(out),
        engine_(out.engine()),
        self_(self),
        window_units_(chosen.window),
        queue_units_(chosen.queue) {}

  [[nodiscard]] local_endpoints& endpoints() noexcept { return here_; }

  /// The parcel for a buffer that the program or another process gives away: in its own header if
  /// no other message uses that, or in an empty block's.
  [[nodiscard]] parcel& wrap(const pool::found& f, bool keep);
  [[nodiscard]] bool is_open(std::uint32_t id) noexcept;
  /// A message of this process, into the inbox of `to`; waits while too much waits there.
  [[nodiscard]] outcome put(std::uint32_t to, parcel& p, std::uint64_t deadline_ns) noexcept;
  /// A message of another process, into the inbox of `to`. False: there is no such end-point; its
  /// sender was told, and `p` is the caller's.
  [[nodiscard]] bool deliver(std::uint32_t to, parcel& p) noexcept;
  /// The end of a delivered message that was not ready: its bytes have come (`well`), or will not.
  /// False: it is in no inbox, and the caller's again.
  [[nodiscard]] bool bytes_arrived(std::uint32_t to, parcel& p, bool well) noexcept;

  [[nodiscard, gnu::hot]] outcome receive(std::uint32_t id, const filter& wanted,
                                          std::uint64_t deadline_ns, message& out) noexcept;
  [[nodiscard]] outcome wait_any(std::span<const std::uint32_t> ids, std::uint64_t deadline_ns,
                                 std::size_t& which);
  /// See message_source.
  [[nodiscard]] bool take_for_handler(local_endpoint& at, message& out, handler& by) noexcept;
  /// Frees a message that no program will receive.
  void drop(parcel& p) noexcept;

 private:
  struct taken {
    std::uint32_t number = 0;  ///< of the end-point
    bool open = false;         ///< it is open under that
    std::uint32_t due = 0;     ///< units to return to the sender's process now
    parcel* p = nullptr;
    std::uint32_t more = 0;  ///< units of this process's threads that wait behind it
  };
  /// Most often nothing waits, or what was sent last: then one lock will do. False: it will not,
  /// and nothing was done. `me`, if it is given, waits where there is no message.
  [[nodiscard]] bool take_at_once(inbox& box, const filter& wanted, taken& found,
                                  waiting_thread* me) noexcept;
  /// The same in any case.
  void take_or_wait(inbox& box, const filter& wanted, taken& found, waiting_thread* me) noexcept;
  /// The oldest that `wanted` admits, received; what is to be told comes out in `due`.
  [[nodiscard]] parcel* take(inbox& box, const filter& wanted, woken& then,
                             std::uint32_t& due) noexcept HEADWAY_REQUIRES(box.taking, box.lock);
  /// The same of those aside.
  [[nodiscard]] parcel* take_aside(inbox& box, const filter& wanted, woken& then,
                                   std::uint32_t& due) noexcept HEADWAY_REQUIRES(box.taking);
  /// `p` is received: what its sender gets back.
  void account(inbox& box, const parcel& p, woken& then, std::uint32_t& due) noexcept
      HEADWAY_REQUIRES(box.lock);
  void return_units(inbox& box, std::uint32_t units, woken& then) noexcept
      HEADWAY_REQUIRES(box.lock);
  /// So many units more are owed: how many are to be told now.
  [[nodiscard]] std::uint32_t owe(std::uint32_t& owed, std::uint32_t units) const noexcept {
    owed += units;
    return owed < window_units_ / 4 ? 0 : std::exchange(owed, 0u);
  }
  void give_credit(std::uint32_t id, std::uint32_t process, std::uint32_t due) noexcept {
    if (due != 0) [[unlikely]]
      tell_credit(id, process, due);
  }
  [[gnu::noinline]] void tell_credit(std::uint32_t id, std::uint32_t process,
                                     std::uint32_t due) noexcept;
  [[gnu::noinline]] void tell_gone(std::uint32_t id, std::uint32_t process) noexcept;
  /// `p` is out of its inbox: what the program gets.
  [[nodiscard]] outcome finish(parcel& p, message& out) noexcept;

  local_endpoints here_;
  pool& buffers_;
  packet_sender& out_;
  progress::engine& engine_;
  const std::uint32_t self_;
  const std::uint32_t window_units_;
  const std::uint32_t queue_units_;
};

/// In line in the handler of arrived packets: a message makes this way alone, and no function saves
/// registers that another one uses.
[[gnu::always_inline]] inline bool delivery::deliver(std::uint32_t to, parcel& p) noexcept {
  local_endpoint* e = here_.find(to);
  const auto sender = p.from.process;  // `p` may be received when the lock is free
  bool found = false, run = false;
  std::uint32_t due = 0;
  if (e) {
    woken then;
    const base::lock_guard guard(e->box.lock);
    found = e->box.id == to;
    if (found) {
      std::uint32_t& owed = e->box.owed_to(sender);  // each sender is told when it closes
      const bool kept = e->box.put(p, then);
      // A receiver has it: it need not take the lock for that once more.
      if (!kept) due = owe(owed, std::exchange(p.charge, std::uint16_t{0}));
      run = kept && p.ready && e->becomes_runnable();
    }
  }
  if (run) here_.handlers().ready(*e);
  give_credit(to, sender, due);
  if (!found) tell_gone(to, sender);
  return found;
}

}  // namespace headway::endpoints
