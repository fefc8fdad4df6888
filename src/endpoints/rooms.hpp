#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/spinlock.hpp"

namespace headway::endpoints {

struct bulk_receive;

/// Room for the next large message that its receiver opens before the message is announced, so that
/// no sender has to ask and wait: one here for another process, and one there for us.
///
/// A single one, opened as late as possible, in the buffer that was released last: it lies in the
/// processor's cache, and two would share that with the message.
///
/// Shape:    one in each direction. A room takes one message, of which it must not be many times as
///           large.
/// Threads:  any; `lock` guards all.
/// Source:   the announcement and the grant of a rendezvous, turned round: receivers know what
///           comes next.
struct rooms {
  static constexpr std::uint64_t waste_max = 4;  ///< a room may be so many times its message

  base::spinlock lock;
  std::uint32_t zone_there = 0;  ///< 0: none
  std::uint64_t bytes_there = 0;
  std::uint32_t zone_here = 0;  ///< 0: none
  bulk_receive* here = nullptr;
  std::uint64_t due_bytes = 0;  ///< of the next room here
  bool no_more_here = false;

  /// That there, taken: for a message of `bytes`, or for the receiver to close.
  struct taken {
    std::uint32_t zone = 0;
    bool suits = false;
  };
  [[nodiscard]] taken take_there(std::uint64_t bytes) noexcept;
  /// False: there is one already.
  [[nodiscard]] bool add_there(std::uint32_t zone, std::uint64_t bytes) noexcept;
  void forget_there() noexcept;

  /// Nullptr: there is none of that name.
  [[nodiscard]] bulk_receive* take_here(std::uint32_t zone) noexcept;
  [[nodiscard]] std::pair<std::uint32_t, bulk_receive*> take_last_here() noexcept;
  /// False: there is one already, or none is wanted any more.
  [[nodiscard]] bool add_here(std::uint32_t zone, bulk_receive& by) noexcept;
  /// Its process is lost.
  void forget_here(const bulk_receive& by) noexcept;
  /// One for so many bytes is to be opened when a buffer is free again.
  void want_here(std::uint64_t bytes) noexcept;
  /// And it will be, now: by one caller. 0: none.
  [[nodiscard]] std::uint64_t take_wish() noexcept;
};

}  // namespace headway::endpoints
