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

/// Puts messages into the inboxes of this process's end-points, takes them out, and returns credit
/// to their senders.
///
/// Threads:  any.
/// Locks:    an inbox's two; none is held while one of another object is taken.
/// Progress: `put` and `receive` wait at the engine for room and for a message; the rest never
///           waits.
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
  /// Puts a message of this process into the inbox of `to`; waits while too much is there.
  [[nodiscard]] outcome put(std::uint32_t to, parcel& p, std::uint64_t deadline_ns) noexcept;
  /// Puts a message of another process into the inbox of `to`. False: there is no such end-point;
  /// the sender was informed, and `p` still belongs to the caller.
  [[nodiscard]] bool deliver(std::uint32_t to, parcel& p) noexcept;
  /// Completes a delivered message that was not ready: its bytes have come (`well`), or will not.
  /// False: it is in no inbox, and belongs to the caller again.
  [[nodiscard]] bool bytes_arrived(std::uint32_t to, parcel& p, bool well) noexcept;

  [[nodiscard, gnu::hot]] outcome receive(std::uint32_t id, const filter& wanted,
                                          std::uint64_t deadline_ns, message& out) noexcept;
  [[nodiscard]] outcome wait_any(std::span<const std::uint32_t> ids, std::uint64_t deadline_ns,
                                 std::size_t& which);
  /// See message_source.
  [[nodiscard]] bool take_for_handler(local_endpoint& at, message& out, handler& by) noexcept;
  /// Frees a message that is not received.
  void drop(parcel& p) noexcept;

 private:
  struct taken {
    std::uint32_t number = 0;  ///< of the end-point
    bool open = false;         ///< an end-point with this number is open
    std::uint32_t due = 0;     ///< units to return now to the sender's process
    parcel* p = nullptr;
    std::uint32_t more = 0;  ///< units of this process's threads that wait behind it
  };
  /// Usually there is no message, or only the newest: then one lock suffices. False: it does not,
  /// and nothing was done. If there is no message, `me`, if it is given, waits.
  [[nodiscard]] bool take_at_once(inbox& box, const filter& wanted, taken& found,
                                  waiting_thread* me) noexcept;
  /// The same, in all cases.
  void take_or_wait(inbox& box, const filter& wanted, taken& found, waiting_thread* me) noexcept;
  /// Takes and receives the oldest that `wanted` admits; the credit to be returned is stored in
  /// `out`.
  [[nodiscard]] parcel* take(inbox& box, const filter& wanted, woken& then,
                             std::uint32_t& due) noexcept HEADWAY_REQUIRES(box.taking, box.lock);
  /// The same from those aside.
  [[nodiscard]] parcel* take_aside(inbox& box, const filter& wanted, woken& then,
                                   std::uint32_t& due) noexcept HEADWAY_REQUIRES(box.taking);
  /// `p` is received: the credit that its sender gets back.
  void account(inbox& box, const parcel& p, woken& then, std::uint32_t& due) noexcept
      HEADWAY_REQUIRES(box.lock);
  void return_units(inbox& box, std::uint32_t units, woken& then) noexcept
      HEADWAY_REQUIRES(box.lock);
  /// So many more units are owed: returns how many are to be sent now.
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
  /// `p` is out of its inbox: makes the message for the program.
  [[nodiscard]] outcome finish(parcel& p, message& out) noexcept;

  local_endpoints here_;
  pool& buffers_;
  packet_sender& out_;
  progress::engine& engine_;
  const std::uint32_t self_;
  const std::uint32_t window_units_;
  const std::uint32_t queue_units_;
};

/// Inline in the handler of arrived packets, because a small message takes only this path, and no
/// function then saves registers of another one.
[[gnu::always_inline]] inline bool delivery::deliver(std::uint32_t to, parcel& p) noexcept {
  local_endpoint* e = here_.find(to);
  const auto sender = p.from.process;  // `p` may be received once the lock is free
  bool found = false, run = false;
  std::uint32_t due = 0;
  if (e) {
    woken then;
    const base::lock_guard guard(e->box.lock);
    found = e->box.id == to;
    if (found) {
      std::uint32_t& owed = e->box.owed_to(sender);  // each sender is informed when it closes
      const bool kept = e->box.put(p, then);
      // A receiver has it: it does not need the lock again.
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
