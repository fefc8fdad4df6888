// Large operations by slots: a copy of which both processes make a part, and an accumulate whose
// operand is staged.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/copy_for_reader.hpp"
#include "windows/node_block.hpp"
#include "windows/slot_way.hpp"

namespace headway::windows {
namespace {

using outcome = slot_client::outcome;

/// A copy by the kernel takes about a microsecond, and then 5 to 10 for 64 KB; a round of the
/// target, during which no other thread of it polls, should not take much longer.
constexpr std::size_t piece_min = 32 * 1024, piece_max = 128 * 1024;
/// So that the target need not wait until its first piece is noticed to be done.
constexpr std::size_t pieces_at_once = 2;

/// Parts of an accumulate: 1 to 2 us each. It leaves some slots to other origins.
constexpr std::size_t parts_at_once = request_slots::count - 2;
/// The target polls, but may do something else in a round.
constexpr std::uint64_t part_patience_ns = 20'000;

}  // namespace

// ---- a copy of which both make a part -----------------------------------------------------------

/// This process copies pieces from the front, the target from the back. What the target has not
/// begun when all others are copied this process copies, too: it never waits for a target that does
/// not poll.
class slot_way::shared_copy {
 public:
  shared_copy(slot_client& client, slot_action what, std::byte* here, std::int64_t offset,
              std::size_t bytes) noexcept
      : client_(client), what_(what), here_(here), offset_(offset), back_(bytes) {}

  /// `first`: null if nothing is to be requested.
  [[nodiscard]] bool run(request_slot* first) noexcept {
    if (first == nullptr) {
      copy(0, left());
      return well_;
    }
    give(first);
    while (left() > 0) {
      const auto bytes = piece();
      copy(front_, bytes);
      front_ += bytes;
      for (request_slot*& slot : given_)
        if (slot != nullptr && slot->turn.is_done()) end(slot, outcome::answered);
      give(nullptr);
    }
    for (request_slot*& slot : given_)
      if (slot != nullptr && slot->turn.withdraw()) end(slot, outcome::not_answered);
    for (request_slot*& slot : given_)
      if (slot != nullptr) end(slot, client_.await_end(*slot));
    client_.learn(helped_ ? outcome::answered : outcome::not_answered);
    return well_;
  }

 private:
  [[nodiscard]] std::size_t left() const noexcept { return back_ - front_; }
  /// Shorter ones at the end, so that both finish at about the same time. A rest that is too short
  /// to be divided is one piece.
  [[nodiscard]] std::size_t piece() const noexcept {
    const auto half = left() / 2;
    return half < piece_min ? left() : std::min(half, piece_max);
  }

  /// Requests pieces from the target: the first in this slot, if there is one.
  void give(request_slot* free) noexcept {
    for (request_slot*& slot : given_) {
      if (slot != nullptr) continue;
      if (refused_ || left() < 2 * piece_min) break;
      slot = free != nullptr ? std::exchange(free, nullptr) : client_.claim_another();
      if (slot == nullptr) return;
      request_piece(*slot);
    }
    if (free != nullptr) slot_client::leave(*free);
  }
  void request_piece(request_slot& slot) noexcept {
    const auto bytes = piece();
    back_ -= bytes;
    const origin_memory here{.address = reinterpret_cast<std::uint64_t>(here_ + back_),
                             .rank = client_.of().self};
    write(slot, {.what = what_,
                 .offset = offset_ + static_cast<std::int64_t>(back_),
                 .count = static_cast<std::uint32_t>(bytes)});
    std::memcpy(slot.data.data(), &here, sizeof here);
    slot.turn.ask();
  }

  /// A slot whose piece is done, or was withdrawn.
  void end(request_slot*& slot, outcome how) noexcept {
    if (how == outcome::lost) {
      well_ = false;
    } else {
      const bool done = how == outcome::answered && slot->carried_out;
      if (!done) copy(static_cast<std::size_t>(slot->offset - offset_), slot->count);
      helped_ = helped_ || done;
      refused_ = refused_ || (how == outcome::answered && !done);
      slot_client::leave(*slot);
    }
    slot = nullptr;
  }

  void copy(std::size_t from, std::size_t bytes) noexcept {
    const auto& of = client_.of();
    const auto there = rails::direct_place(
        of.base + static_cast<std::uint64_t>(offset_ + static_cast<std::int64_t>(from)), bytes);
    const std::span<std::byte> here(here_ + from, bytes);
    const auto how = what_ == slot_action::pull ? of.copies.put(of.process, there, here, 0)
                                                : of.copies.get(of.process, there, here, 0);
    well_ = well_ && how == rails::post::done;
  }

  slot_client& client_;
  const slot_action what_;
  std::byte* const here_;
  const std::int64_t offset_;
  std::size_t front_ = 0, back_;  // what is neither copied nor given to the target
  std::array<request_slot*, pieces_at_once> given_{};
  bool helped_ = false, refused_ = false, well_ = true;
};

bool slot_way::copy(slot_action what, std::byte* here, std::int64_t offset,
                    std::size_t bytes) noexcept {
  return shared_copy(client_, what, here, offset, bytes).run(client_.claim().slot);
}

// ---- an accumulate whose operand is staged ------------------------------------------------------

/// The parts of an accumulate that the target has been requested to carry out, in their order.
class slot_way::staged_accumulate {
 public:
  staged_accumulate(slot_client& client, const request& wanted, const alone& rest) noexcept
      : client_(client),
        wanted_(wanted),
        size_(datatypes::layout::of(wanted.kind).size()),
        rest_(rest) {}

  [[nodiscard]] status run(const std::byte* operand, std::int64_t count,
                           slot_client::claimed first) {
    const auto part_max = static_cast<std::int64_t>(staging::part_bytes) / size_;
    request_slot* slot = first.slot;
    patience_ns_ = first.patience_ns;
    for (std::int64_t next = 0; next < count && well_;) {
      if (slot == nullptr && takes_ && in_use_ < parts_at_once) slot = client_.claim_another();
      if (slot == nullptr && in_use_ != 0) {
        end_first();
        continue;
      }
      if (slot == nullptr) {
        well_ = rest_(next, count - next);
        break;
      }
      const auto length = std::min(part_max, count - next);
      request_part(*std::exchange(slot, nullptr), operand + next * size_, next, length);
      next += length;
      while (in_use_ != 0 && first_part().slot->turn.is_done()) end_first();
    }
    if (slot != nullptr) slot_client::leave(*slot);
    while (in_use_ != 0) end_first();
    return well_ ? status::ok : status::lost;
  }

 private:
  struct part {
    request_slot* slot = nullptr;
    std::int64_t first = 0, count = 0;
  };
  [[nodiscard]] part& first_part() noexcept { return parts_[first_ % parts_at_once]; }

  void request_part(request_slot& slot, const std::byte* operand, std::int64_t first,
                    std::int64_t count) noexcept {
    const auto& of = client_.of();
    request mine = wanted_;
    mine.offset += first * size_;
    mine.count = static_cast<std::uint32_t>(count);
    write(slot, mine);
    const auto bytes = static_cast<std::size_t>(count * size_);
    std::byte* const there =
        bytes <= request_slot::data_bytes ? slot.data.data() : of.staged.part_of(of.slots, slot);
    copies_.copy(there, operand, bytes);
    slot.turn.ask();
    parts_[(first_ + in_use_++) % parts_at_once] = {&slot, first, count};
  }

  /// Waits for the first part. What the target has not done this process does; if the target has
  /// not begun, it is not requested to do any more.
  void end_first() {
    const part ended = first_part();
    ++first_;
    --in_use_;
    const auto how = client_.await(*ended.slot, patience_ns_);
    patience_ns_ = part_patience_ns;
    if (how == outcome::lost) {
      well_ = false;
      return;
    }
    takes_ = takes_ && how == outcome::answered;
    if (!takes_) patience_ns_ = 0;
    const bool done = how == outcome::answered && ended.slot->carried_out;
    slot_client::leave(*ended.slot);
    client_.learn(how);
    if (!done && well_) well_ = rest_(ended.first, ended.count);
  }

  slot_client& client_;
  const request wanted_;  // its offset is that of the first element
  const std::int64_t size_;
  const alone& rest_;
  base::copy_for_reader& copies_ = client_.copies();
  std::array<part, parts_at_once> parts_;
  std::size_t first_ = 0, in_use_ = 0;
  std::uint64_t patience_ns_ = 0;
  bool takes_ = true, well_ = true;
};

std::optional<status> slot_way::accumulate_large(const std::byte* operand, const remote_data& where,
                                                 const change& how, const alone& rest) {
  const auto& one = datatypes::layout::of(how.kind);
  if (one.size() != one.extent() || !where.is_one_block() || !has_staging()) return std::nullopt;
  const auto claimed = client_.claim();
  if (claimed.slot == nullptr) return std::nullopt;
  const request wanted{
      .what = slot_action::accumulate, .offset = where.block(), .kind = how.kind, .op = how.what};
  return staged_accumulate(client_, wanted, rest).run(operand, where.bytes() / one.size(), claimed);
}

bool slot_way::has_staging() noexcept {
  auto known = staging_.load(std::memory_order_relaxed);
  if (known == reserved::unknown) [[unlikely]] {
    std::byte* const at = client_.of().staged.at;
    known = at != nullptr && node_block::reserve(at, staging::bytes) ? reserved::yes : reserved::no;
    staging_.store(known, std::memory_order_relaxed);
  }
  return known == reserved::yes;
}

}  // namespace headway::windows
