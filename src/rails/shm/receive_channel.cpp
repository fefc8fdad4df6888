#include "rails/shm/receive_channel.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/thread_role.hpp"
#include "rails/shm/atomic_calls.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {
namespace {

constexpr std::size_t prefetched_bytes_max = 16 * line_bytes;
constexpr const char* not_together = "a packet's parts do not belong together";

}  // namespace

void receive_channel::begin(const context& given) noexcept {
  c_ = given;
  std::destroy_at(&reader_);
  std::construct_at(&reader_, ring_memory(given.slot, given.shape.ring_bytes));
  map_now(given.slot.ring, given.shape.ring_bytes);
  given.back->passed().set_own(given.slot.passed);
  given.back->pieces().set_own(buffers_of(given.slot, given.shape));
  gets_.begin(given.slot, given.shape.piece_bytes);
  given.slot.control->pulls.store(given.readable_pid != 0, std::memory_order_relaxed);  // a hint
}

std::size_t receive_channel::take_all(std::span<event> out) noexcept {
  if (broken()) return 0;
  std::size_t count = take_records(out);
  if (active_.load(std::memory_order_relaxed) != 0 && !broken())
    count += take_pieces(out.subspan(count));
  if (gets_.any() && !broken()) serve_gets();
  c_.back->reply_was_received();
  return count;
}

// --- records

/// A look at a line that the peer has just set to zero fetches it from the peer's core: a record
/// that comes alone would be handled a hundred nanoseconds later. So the line behind a record is
/// looked at in the next call, unless that record itself came right behind another one.
std::size_t receive_channel::take_records(std::span<event> out) noexcept {
  const bool in_a_row = follows_;
  std::size_t count = 0;
  // A correct writer cannot have more than one lap of the ring there. A broken one may leave a ring
  // of records without an event, which would be read for ever.
  const std::uint64_t end = reader_.position() + reader_.memory().cell_count();
  while (count < out.size() && !broken()) {
    const std::uint64_t position = reader_.position();
    const std::uint64_t word = position < end ? reader_.peek_at(position) : 0;
    follows_ = word != 0;
    if (!follows_) break;
    const auto head = read_record_word(word);
    if (head.bytes + head.following > c_.record_bytes_max ||
        cells_in_ring(head) > reader_.cells_to_end(position)) {
      break_off("a record has no valid size");
      break;
    }
    if (!in_a_row && head.place == passed_place::none)
      prefetch(reader_.memory().cell(position), cells_of(head.gap + head.bytes) * cell_bytes);
    if (take_record(head, position, out[count])) ++count;
    if (!in_a_row && head.kind != record_kind::skip) break;
  }
  return count;
}

/// A record's lines come from the peer's core while its packet is matched. Those of records in a
/// row the processor fetches ahead itself.
void receive_channel::prefetch(const std::byte* first, std::size_t bytes) noexcept {
  const auto size = std::min(bytes, prefetched_bytes_max);
  for (std::size_t at = line_bytes; at < size; at += line_bytes) __builtin_prefetch(first + at);
}

inline bool receive_channel::take_record(const record_head& head, std::uint64_t position,
                                         event& e) noexcept {
  const std::byte* const at = reader_.memory().cell(position) + sizeof(std::uint64_t) + head.gap;
  if (head.kind != record_kind::packet || head.place != passed_place::none) [[unlikely]]
    return take_other(head, at, e);
  if (following_ != 0) [[unlikely]] {
    break_off(not_together);
    return false;
  }
  report(head, at, 0, e);
  return true;
}

/// A packet, or a part of one. `passes_on`: for `release`.
inline void receive_channel::report(const record_head& head, const std::byte* at,
                                    std::uint64_t passes_on, event& e) noexcept {
  const std::uint64_t cells = cells_in_ring(head);
  following_ = head.following;
  e = {.kind = head.kind == record_kind::more ? event_kind::continued : event_kind::received,
       .peer = c_.back->peer(),
       .count = head.following,
       .bytes = {at, head.bytes},
       .driver_word = std::uint64_t{c_.index} << 32 | passes_on | (cells + carried_cells_)};
  carried_cells_ = 0;
  ++held_records_;
  reader_.advance_to(reader_.position() + cells);
}

/// A packet in a passed buffer, or a part that continues one. `in_ring`: where it would be there.
bool receive_channel::take_part(const record_head& head, const std::byte* in_ring,
                                event& e) noexcept {
  const bool is_more = head.kind == record_kind::more;
  if (following_ != (is_more ? head.bytes + head.following : 0) ||
      (is_more && head.place != part_place_)) {
    break_off(not_together);
    return false;
  }
  if (!is_more) {
    c_.back->reply_was_received();  // a buffer that the peer passes back may be one that was sent
    const bool named = head.place <= passed_place::writers;
    const std::byte* const buffer = named ? c_.back->passed().find(head.place) : nullptr;
    if (!buffer) {
      break_off("a packet lies in a buffer that is not its writer's");
      return false;
    }
    next_part_ = buffer + sizeof(std::uint64_t) + head.gap;
  }
  part_place_ = head.following == 0 ? passed_place::none : head.place;
  if (head.place == passed_place::none) {
    report(head, in_ring, 0, e);
    return true;
  }
  const std::byte* const part = std::exchange(next_part_, next_part_ + head.bytes);
  prefetch(part, head.bytes);
  report(head, part,
         head.following == 0 ? static_cast<std::uint64_t>(head.place) << place_shift : 0, e);
  return true;
}

/// A record that is no whole packet in the ring.
bool receive_channel::take_other(const record_head& head, const std::byte* at, event& e) noexcept {
  if (head.kind == record_kind::packet || head.kind == record_kind::more)
    return take_part(head, at, e);
  if (head.following != 0 || head.place != passed_place::none) {
    break_off("a record that is no packet has parts or lies in a buffer");
    return false;
  }
  const std::span record(at, head.bytes);
  const std::uint64_t cells = cells_of(head.gap + head.bytes);
  switch (head.kind) {
    case record_kind::packet:  // above
    case record_kind::more:
      return false;
    case record_kind::put: {
      const bool reports = take_put(record, e);
      consume(cells);
      return reports;
    }
    case record_kind::transfer:
      take_notice(record);
      consume(cells);
      return false;
    case record_kind::atomic:
      take_atomic(record);
      consume(cells);
      return false;
    case record_kind::get:
      take_get(record);
      consume(cells);
      return false;
    case record_kind::skip:
      if (head.bytes == 0 || head.bytes > reader_.cells_to_end(reader_.position()) ||
          head.bytes == reader_.memory().cell_count())
        break_off("cells are skipped that are not there");
      else consume(head.bytes);
      return false;
  }
  break_off("a record has no valid kind");
  return false;
}

bool receive_channel::take_put(std::span<const std::byte> record, event& e) noexcept {
  put_prefix prefix{};
  if (record.size() < sizeof prefix) {
    break_off("a put record is too short");
    return false;
  }
  std::memcpy(&prefix, record.data(), sizeof prefix);
  const auto payload = record.subspan(sizeof prefix);
  const auto said = c_.exposed->write(c_.back->peer(), prefix.id, prefix.offset, payload);
  if (said.what == exposures::answer::out_of_bounds) break_off(behind_its_exposure);
  if (said.what != exposures::answer::done || !exposures::notified(prefix.id)) return false;
  e = landed(said.token, payload.size());
  return true;
}

void receive_channel::take_atomic(std::span<const std::byte> record) noexcept {
  atomic_call call{};
  if (record.size() != sizeof call) return break_off("an atomic record has no valid size");
  std::memcpy(&call, record.data(), sizeof call);
  std::uint64_t before = 0;
  const auto said =
      c_.exposed->change(c_.back->peer(), {.exposed = {.id = call.id}, .offset = call.offset},
                         {.what = static_cast<operation>(call.what),
                          .operand = call.operand,
                          .expected = call.expected},
                         before);
  atomic_calls::answer(*c_.slot.control, call.number, said.what == exposures::answer::done, before);
  c_.back->notify();
}

void receive_channel::take_get(std::span<const std::byte> record) noexcept {
  get_call call{};
  if (record.size() == sizeof call) std::memcpy(&call, record.data(), sizeof call);
  const bool any_before = gets_.any();
  if (!gets_.take(call)) return break_off("a get is asked for wrongly");
  if (!any_before) count_active(1);
}

void receive_channel::serve_gets() noexcept {
  if (gets_.serve(c_.back->peer(), *c_.exposed)) c_.back->notify();
  if (!gets_.any()) count_active(-1);
}

void receive_channel::take_notice(std::span<const std::byte> record) noexcept {
  transfer_notice notice{};
  if (record.size() == sizeof notice) std::memcpy(&notice, record.data(), sizeof notice);
  transfer& t = table_[notice.number % table_size];
  if (notice.bytes == 0 || notice.number != announced_ || t.missing != 0) {
    break_off("a large payload is announced wrongly");
    return;
  }
  if (announced_ == 0)  // the sender has reserved them
    map_now(c_.slot.pieces, c_.shape.pieces_bytes());
  t = {.notice = notice, .missing = notice.bytes};
  lend(t);
  ++announced_;
  look_at_oldest();
  count_active(1);
  may_pull_.store(c_.readable_pid != 0, std::memory_order_relaxed);
}

/// Publishes the target for the sender, if it asks for that or should copy alone: if this process
/// computes, a transfer that a waiting thread sent is left to the sender.
void receive_channel::lend(transfer& t) noexcept {
  slot_control& control = *c_.slot.control;
  const bool leaves = t.notice.attends != 0 && base::runs_in_background();
  const bool lends =
      t.notice.lends == lending::always || (t.notice.lends == lending::if_left && leaves);
  if (!lends || c_.readable_pid == 0 || control.revoked.load(std::memory_order_relaxed) != 0)
    return;
  transfer_line& shared = control.transfers[t.notice.number % transfers_max];
  const auto said =
      c_.exposed->lend(part_of(t, 0, t.notice.bytes), holder(), [&](std::span<std::byte> part) {
        const auto address = reinterpret_cast<std::uint64_t>(part.data());
        shared.alone.store(leaves, std::memory_order_relaxed);
        shared.target.store(lent_target(address, lap_of(t.notice.number)),
                            std::memory_order_release);  // (G)
      });
  t.lent = said.what == exposures::answer::done;
  t.left = leaves && t.lent;
}

/// A record was used up. The writer gets cells back in order: while older records are held, its
/// cells are returned with the last of those.
void receive_channel::consume(std::uint64_t cells) noexcept {
  reader_.advance(cells);
  if (held_records_ == 0) {
    free_cells(cells);
  } else {
    carried_cells_ += cells;
  }
}

void receive_channel::release(std::uint64_t what) noexcept {
  HEADWAY_DEBUG_ASSERT(held_records_ > 0);
  const auto place = static_cast<passed_place>(what >> place_shift);
  auto cells = what & ((std::uint64_t{1} << place_shift) - 1);
  if (place != passed_place::none) [[unlikely]]
    c_.back->passed().read(place);
  if (--held_records_ == 0) cells += std::exchange(carried_cells_, 0);
  free_cells(cells);
}

void receive_channel::free_cells(std::uint64_t cells) noexcept {
  if (!reader_.give_back(cells)) [[likely]]
    return;
  // Dekker with `record_sender::reserve`: that sets wants_room, fences, loads consumed.
  base::store_load_fence();
  auto& wanted = reader_.memory().wants_room();
  if (wanted.load(std::memory_order_relaxed) == 0) return;
  wanted.store(0, std::memory_order_relaxed);
  c_.back->notify();
}

// --- in other threads

bool receive_channel::waiting(arrivals which) noexcept {
  if (broken()) return false;  // what is there is not taken
  // Relaxed: a sender whose store this load does not see sees that the bell is armed, and rings.
  const bool record =
      which == arrivals::all
          ? reader_.waiting()
          : reader_.is_before(reader_.memory().hurried().load(std::memory_order_relaxed));
  if (record || gets_.waiting()) return true;
  if (active_.load(std::memory_order_relaxed) == 0) return false;
  if (may_pull_.load(std::memory_order_relaxed) && !leaves_copying()) return true;
  const std::uint64_t before = buffer_ticket_.load(std::memory_order_acquire);
  if (piece_ready()) return true;
  // (B) `take` has moved on, so the buffer read here is not the current one.
  return buffer_ticket_.load(std::memory_order_acquire) != before;
}

void receive_channel::take_back_targets() noexcept {
  revoke_targets(c_.slot.control->revoked);
  while (is_placing(c_.slot.control->placing) && c_.back->peer_alive()) base::relax();
}

void receive_channel::break_off(const char* why) noexcept {
  broken_.store(true, std::memory_order_relaxed);
  base::log(base::severity::error, "shm: peer {} wrote what makes no sense ({}): it is cut off",
            static_cast<std::uint32_t>(c_.back->peer()), why);
  c_.back->mark_lost();
}

}  // namespace headway::rails::shm
