#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/communicators/context_ids.hpp"

namespace headway::mpi {

/// Chooses a number for a new communicator that is free in all its members: one member's part of
/// the protocol. The messages are sent by `context_agreement`.
///
/// The protocol has rounds. In each, every member contributes a *proposal*, a number that it has
/// reserved in its table, and which numbers of a *window* of its table are free. `combine` merges
/// contributions, so that all members get the same result. If all proposals are the same number, it
/// is chosen. Otherwise each member gives its proposal back, and the next round depends on the
/// result:
///   - some numbers in the window are free in all members: all propose the same one of these. (In
///     the first round each member's window begins at its lowest free number. The last of these
///     windows counts, and only members with that window contribute which of its numbers are free.)
///   - none is: a window eight times as wide; there is no number if it was the whole table.
/// If the tables of the members are alike, one round with 24 bytes a message is enough.
///
/// The members also agree on the *incarnation* of the number, which tells the communicators apart
/// that have it one after the other: each contributes one that no agreement has seen before, and
/// the largest is chosen.
///
/// It is safe: no two open communicators of a process have the same number. A number is chosen only
/// if every member had reserved it before; it stays reserved until the communicator is closed, so
/// no other agreement of this process can propose it. The windows are hints; they may be outdated.
///
/// It ends: an agreement holds at most one number and never waits for one. So agreements on other
/// parents, with other members, or begun in another order by other threads cannot block it; at most
/// they hold the number that it needs, and another round follows. These rounds choose by `seed`
/// from wider and wider windows, so that competing agreements soon choose different numbers. Many
/// rounds are needed only if there are about as few free numbers as competing agreements; the
/// result may then be "none" although another agreement is about to release a number.
///
/// Shape:    `combine` is associative, commutative and idempotent: any order, any tree, also with
///           members counted twice.
/// Threads:  one at a time; any number of choices at once on one `context_ids`.
class context_id_choice {
 public:
  /// `seed`: the same on all members, different from that of concurrent agreements. `incarnation`:
  /// different in every agreement and on every member.
  context_id_choice(context_ids& table, std::uint32_t seed, std::uint64_t incarnation)
      : table_(table), seed_(seed), own_(window_begin + 1), incoming_(window_begin + 1) {
    own_[incarnation_at] = incarnation;
  }
  context_id_choice(const context_id_choice&) = delete;
  context_id_choice& operator=(const context_id_choice&) = delete;
  /// Releases a reserved number unless it was agreed on.
  ~context_id_choice() { give_up(); }

  /// Begins the first round; later ones are begun by `conclude`.
  void begin();
  /// This member's contribution, with those that were combined with it. All contributions of a
  /// round have the same size.
  [[nodiscard]] std::span<const std::byte> contribution() const noexcept {
    return std::as_bytes(std::span(own_));
  }
  /// The memory for another member's contribution, which `combine` merges into this member's.
  [[nodiscard]] std::span<std::byte> incoming() noexcept {
    return std::as_writable_bytes(std::span(incoming_));
  }
  void combine() noexcept;
  /// Ends a round in which all members' contributions are combined. True: `id` is the result.
  /// False:
  /// another round has begun.
  [[nodiscard]] bool conclude();
  /// The result: a number, which is reserved in this process's table, or `context_id_none`.
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  /// The incarnation of that number.
  [[nodiscard]] std::uint64_t incarnation() const noexcept { return own_[incarnation_at]; }
  /// Ends it in any state, because a member was lost.
  void give_up() noexcept;

 private:
  /// The first word of a message; the incarnation and the window's words follow.
  struct head {
    std::uint32_t proposal;    // context_id_none if the members' proposals differ
    std::uint16_t first_word;  // of the window
    std::uint16_t agreed;      // every member has reserved `proposal`
  };
  using message = std::vector<std::uint64_t>;
  static constexpr std::size_t incarnation_at = 1, window_begin = 2;
  static constexpr std::size_t width_step = 8;

  void begin_round(std::uint32_t proposal, std::size_t first_word);
  void widen();
  [[nodiscard]] std::size_t width() const noexcept { return own_.size() - window_begin; }
  [[nodiscard]] static head head_of(const message& m) noexcept { return std::bit_cast<head>(m[0]); }
  [[nodiscard]] std::uint32_t pick() const noexcept;

  context_ids& table_;
  const std::uint32_t seed_;
  std::uint32_t round_ = 0;
  std::uint32_t reserved_ = context_id_none;  // this round's proposal
  std::uint32_t id_ = context_id_none;
  message own_, incoming_;  // of one size
};

}  // namespace headway::mpi
