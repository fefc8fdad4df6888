#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway::sampling {
struct profile;  // sampling/profile.hpp: the time that a rail takes for so many bytes
}

namespace headway::packets {

struct send_item;

constexpr std::size_t rails_per_peer_max = 8;

/// One rail to one peer at this moment. Its index in the list of states identifies it.
struct rail_state {
  enum class condition : std::uint8_t {
    idle,  ///< takes something now, after what it has for `busy_ns`
    busy,  ///< takes something again in `busy_ns`, or soon if that is 0
    down,  ///< carries nothing to this peer until it comes back
  };
  condition now = condition::idle;
  /// the driver's own estimate, one way: used if there is no profile
  std::uint32_t latency_ns = 0;
  /// For how long it still sends what it was given, for all peers: predicted. 0: not, or it is not
  /// known.
  std::uint64_t busy_ns = 0;
  const sampling::profile* profile = nullptr;  ///< null: not measured yet
};

/// The packets that wait for a peer, in the order in which they leave: urgent ones first, otherwise
/// the oldest first. Follow `send_item::next`.
struct backlog {
  const send_item* first = nullptr;
  std::size_t count = 0;
};

/// What an idle rail may take at once.
struct frame_room {
  std::size_t packets_max = 1;  ///< at least 1
  std::size_t bytes_max = 0;    ///< of heads and payloads together
};

/// The part of an accepted message that is not given to any rail yet.
struct remainder {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct piece {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t rail = 0;  ///< its index in the list of states
  /// All of it goes now: the strategy is not asked again about it.
  bool whole = false;
};

/// Threads that could give a part of a packet to its rail, besides the one that sends it.
struct helpers {
  std::size_t idle = 0;       ///< those that have a processor with nothing else to run
  std::uint64_t wake_ns = 0;  ///< the time that one recently took until it ran
};

/// Decides what is sent where: gets the waiting packets and the rails, answers "send this, there".
///
/// Called when a rail becomes idle while packets wait (`choose`), and by the receiver of a large
/// message when it has accepted it and whenever a rail is about to run out of work while some of
/// the message is left (`split`). Never by polling. Only the beginning of each rail's piece may be
/// used; the rest is asked about again, so that a transfer corrects itself while it runs. The rest
/// is always one contiguous part; an answer of one piece is valid.
///
/// Shape:    no state that changes: one object serves every peer.
/// Threads:  any, several at once.
/// Progress: must not wait, allocate or call the driver; a few hundred nanoseconds.
/// Errors:   none. Answers are checked: one that violates the rules below is replaced by that of
///           `fifo`.
/// Source:   multirail08 (mechanisms 13, 14, 16 of docs; the optimisation layer).
class strategy {
 public:
  virtual ~strategy() = default;

  /// How many of the packets that wait leave now on `rail`, the idle rail on which the first one
  /// would end first, or the next rail if the answer for that was 0. Several travel as one frame,
  /// within `room`. 0: none, they wait for a better rail, which must be busy, not down.
  [[nodiscard]] virtual std::size_t choose(const backlog& waiting, std::uint32_t rail,
                                           std::span<const rail_state> rails,
                                           const frame_room& room) const noexcept = 0;

  /// Cuts `what` into contiguous pieces, in order, at most one for each rail, for rails that are
  /// not down; returns how many. `pieces` has room for one for each rail. At least one rail is not
  /// down.
  [[nodiscard]] virtual std::size_t split(const remainder& what, std::span<const rail_state> rails,
                                          std::span<piece> pieces) const noexcept = 0;

  /// Whether small packets that follow each other closely may be kept until the next polling round,
  /// to leave together. Called where a single rail reaches the peer and sending is a system call.
  [[nodiscard]] virtual bool collects() const noexcept { return true; }

  /// Whether a packet of `bytes`, behind which nothing waits, leaves in parts over several rails,
  /// each given to its rail on another processor. Pieces as in `split`, for idle rails: the first
  /// for `rail`, given to it by the calling sender, each other one by one of `threads`. 0: the
  /// packet leaves whole, as without this function.
  [[nodiscard]] virtual std::size_t cut(std::uint64_t bytes, std::uint32_t rail,
                                        std::span<const rail_state> rails, const helpers& threads,
                                        std::span<piece> pieces) const noexcept {
    static_cast<void>(bytes), static_cast<void>(rail), static_cast<void>(rails);
    static_cast<void>(threads), static_cast<void>(pieces);
    return 0;
  }
};

/// A strategy that can be named in HEADWAY_STRATEGY, or for one communicator.
struct named_strategy {
  std::string_view name;
  const strategy* how;
};

/// Every built-in strategy. Only strategies/list.cpp names them.
[[nodiscard]] std::span<const named_strategy> known_strategies() noexcept;
/// The strategy in a shared object (include/headway/strategy.h), loaded once for each path; kept
/// until the process ends. Takes a mutex.
/// Errors:   `bad_input`, in one line, with the path.
[[nodiscard]] base::result<const strategy*> load_strategy(const std::string& path);
/// Its name, or the path that it was loaded from. Empty: neither.
[[nodiscard]] std::string_view name_of(const strategy& how) noexcept;
/// nullptr: there is none of that name.
[[nodiscard]] const strategy* find_strategy(std::string_view name) noexcept;

}  // namespace headway::packets
