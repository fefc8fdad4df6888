#include "rails/shm/receive_channel.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/copy_between_cores.hpp"
#include "base/log.hpp"
#include "base/thread_role.hpp"
#include "rails/shm/atomic_calls.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {
namespace {

constexpr std::uint64_t prefetched_cells_max = 16 * cells_per_line;
constexpr const char* behind_its_exposure = "a payload ends behind its exposure";

}  // namespace

void receive_channel::begin(const context& given) noexcept {
  c_ = given;
  std::destroy_at(&reader_);
  std::construct_at(&reader_, ring_memory(given.slot, given.shape.ring_bytes));
  map_now(given.slot.ring, given.shape.ring_bytes);
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
        cells_of(head.gap + head.bytes) > reader_.cells_to_end(position)) {
      break_off("a record has no valid size");
      break;
    }
    if (!in_a_row) prefetch(head);
    if (take_record(head, position, out[count])) ++count;
    if (!in_a_row && head.kind != record_kind::skip) break;
  }
  return count;
}

/// A record's lines come from the peer's core while its packet is matched. Those of records in a
/// row the processor fetches ahead itself.
void receive_channel::prefetch(const record_head& head) noexcept {
  const auto cells = std::min(cells_of(head.gap + head.bytes), prefetched_cells_max);
  for (auto cell = cells_per_line; cell < cells; cell += cells_per_line)
    __builtin_prefetch(reader_.memory().cell(reader_.position() + cell));
}

inline bool receive_channel::take_record(const record_head& head, std::uint64_t position,
                                         event& e) noexcept {
  const std::span<const std::byte> record(
      reader_.memory().cell(position) + sizeof(std::uint64_t) + head.gap, head.bytes);
  const bool is_more = head.kind == record_kind::more;
  const bool is_packet = is_more || head.kind == record_kind::packet;
  if (is_packet ? following_ != (is_more ? head.bytes + head.following : 0) : head.following != 0) {
    break_off("a packet's parts do not belong together");
    return false;
  }
  if (!is_packet) return take_other(head, record, e);
  const std::uint64_t cells = cells_of(head.gap + head.bytes);
  following_ = head.following;
  e = {.kind = is_more ? event_kind::continued : event_kind::received,
       .peer = c_.back->peer(),
       .count = head.following,
       .bytes = record,
       .driver_word = std::uint64_t{c_.index} << 32 | (cells + carried_cells_)};
  carried_cells_ = 0;
  ++held_records_;
  reader_.advance_to(position + cells);
  return true;
}

/// A record that is no packet.
bool receive_channel::take_other(const record_head& head, std::span<const std::byte> record,
                                 event& e) noexcept {
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
    map_now(c_.slot.pieces, std::size_t{c_.shape.piece_bytes} * c_.shape.piece_count);
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

void receive_channel::release(std::uint64_t cells) noexcept {
  HEADWAY_DEBUG_ASSERT(held_records_ > 0);
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

// --- pieces that the sender pushed

piece_line& receive_channel::next_buffer() const noexcept {
  return c_.slot.control
      ->pieces[buffer_ticket_.load(std::memory_order_relaxed) % c_.shape.piece_count];
}

bool receive_channel::piece_ready() const noexcept {
  const std::uint64_t ticket = buffer_ticket_.load(std::memory_order_relaxed);
  return piece_is_full(c_.slot.control->pieces[ticket % c_.shape.piece_count].turn,
                       ticket / c_.shape.piece_count);
}

std::size_t receive_channel::take_pieces(std::span<event> out) noexcept {
  std::size_t count = 0;
  std::size_t copied = 0;
  while (count < out.size() && copied < copy_budget_bytes && piece_ready() && !broken()) {
    const std::size_t bytes = take_piece(out[count]);
    if (bytes == 0) break;
    copied += bytes;
    if (out[count].kind == event_kind::landed) ++count;
  }
  if (copied > 0) {
    silent_since_ns_ = 0;
  } else if (count < out.size() && !broken() && active_.load(std::memory_order_relaxed) != 0 &&
             pull_is_due()) {
    if (pull(out[count]) > 0 && out[count].kind == event_kind::landed) ++count;
  }
  return count;
}

/// Returns the bytes of the piece, 0: it cannot be taken now. `e` is landed, or lost, which stands
/// for no event.
std::size_t receive_channel::take_piece(event& e) noexcept {
  e.kind = event_kind::lost;
  piece_line& line = next_buffer();
  const std::uint64_t ticket = buffer_ticket_.load(std::memory_order_relaxed);
  const std::uint64_t bytes = line.bytes, offset = line.offset;
  transfer& t = table_[line.transfer % table_size];
  if (t.missing == 0 || t.notice.number != line.transfer) {
    // The notice was published before the piece: it is still in the ring, or never was.
    if (reader_.peek() == 0) break_off("a piece belongs to nothing");
    return 0;
  }
  const bool placed = line.placed != 0;
  if (bytes == 0 || (bytes > c_.shape.piece_bytes && !placed) || (placed && !t.lent) ||
      bytes > t.missing || offset > t.notice.bytes || bytes > t.notice.bytes - offset) {
    break_off("a piece has no valid size");
    return 0;
  }
  const std::byte* buffer =
      c_.slot.pieces + (ticket % c_.shape.piece_count) * std::size_t{c_.shape.piece_bytes};
  const auto said = c_.exposed->use(part_of(t, offset, bytes), [&](std::span<std::byte> to) {
    if (placed) return;
    c_.back->figures().empties.run(bytes, ticket % copy_figures::timed_period == 0, [&] {
      if (c_.exposed->awaits_more_than_caches_hold())
        base::copy_from_writer_to_memory(to.data(), buffer, bytes);
      else base::copy_from_writer(to.data(), buffer, bytes);
      return true;
    });
  });
  if (said.what == exposures::answer::out_of_bounds) {
    break_off(behind_its_exposure);
    return 0;
  }
  buffer_ticket_.store(ticket + 1, std::memory_order_release);  // (B)
  free_piece(line.turn, ticket / c_.shape.piece_count);
  if (piece_is_wanted(c_.slot.control->wants_buffer)) c_.back->notify();
  if (said.what == exposures::answer::done && exposures::notified(t.notice.id))
    e = landed(said.token, bytes);
  arrived(t, bytes);
  if (t.missing == 0 && t.pulled) c_.back->notify();  // see pull
  return bytes;
}

event receive_channel::landed(std::uint64_t exposure_token, std::size_t bytes) const noexcept {
  return {.kind = event_kind::landed,
          .peer = c_.back->peer(),
          .count = bytes,
          .cookie = exposure_token};
}

exposures::request receive_channel::part_of(const transfer& t, std::uint64_t offset,
                                            std::uint64_t bytes) const noexcept {
  return {.peer = c_.back->peer(),
          .id = t.notice.id,
          .offset = t.notice.offset + offset,
          .bytes = bytes};
}

void receive_channel::arrived(transfer& t, std::size_t bytes) noexcept {
  t.missing -= bytes;
  if (t.missing != 0) return;
  if (std::exchange(t.lent, false)) c_.exposed->give_back(t.notice.id);
  count_active(-1);
  while (oldest_ != announced_ && table_[oldest_ % table_size].missing == 0) ++oldest_;
  look_at_oldest();
}

void receive_channel::look_at_oldest() noexcept {
  const bool left = oldest_ != announced_ && table_[oldest_ % table_size].left;
  oldest_left_.store(left ? oldest_ % transfers_max + 1 : 0, std::memory_order_relaxed);
}

// --- pieces that this end reads from the sender's memory

/// The sender copies everything, because this process computes. What follows can wait.
bool receive_channel::leaves_copying() const noexcept {
  const auto line = oldest_left_.load(std::memory_order_relaxed);
  return line != 0 && base::runs_in_background() &&
         c_.slot.control->transfers[line - 1].alone.load(std::memory_order_relaxed) != 0;
}

bool receive_channel::pull_is_due() noexcept {
  if (!may_pull_.load(std::memory_order_relaxed) || leaves_copying()) return false;
  if (table_[oldest_ % table_size].lent) return true;  // the sender leaves half of it to this end
  const std::uint64_t now = c_.clock.now_ns();
  if (silent_since_ns_ == 0) silent_since_ns_ = now;
  const auto silent_ns = now - silent_since_ns_;
  if (silent_ns < patience_ns) return false;
  return silent_ns >= copying_patience_ns || !(c_.back->sends_payloads() || sender_copies());
}

/// Of the oldest transfer more bytes were taken than have arrived: the sender copies the others.
bool receive_channel::sender_copies() const noexcept {
  const transfer& t = table_[oldest_ % table_size];
  const auto& claim = c_.slot.control->transfers[oldest_ % transfers_max].claim;
  // Relaxed: a hint. After an old value this end tries to claim, which (K) decides.
  const auto seen = claim.load(std::memory_order_relaxed);
  return is_claim_of(seen, oldest_) &&
         std::uint64_t{taken_pieces(seen)} * c_.shape.piece_bytes > t.notice.bytes - t.missing;
}

receive_channel::transfer* receive_channel::claim_some(std::uint32_t& first,
                                                       std::uint32_t& count) noexcept {
  for (std::uint32_t number = oldest_; number != announced_; ++number) {
    transfer& t = table_[number % table_size];
    if (t.missing == 0) continue;
    const std::uint64_t pieces = (t.notice.bytes + c_.shape.piece_bytes - 1) / c_.shape.piece_bytes;
    auto& claim = c_.slot.control->transfers[number % transfers_max].claim;
    const auto wanted = std::max<std::uint32_t>(pull_bytes / c_.shape.piece_bytes, 1);
    count = claim_pieces(claim, number, pieces, wanted, first);
    if (count != 0) return &t;
  }
  return nullptr;
}

std::size_t receive_channel::pull(event& e) noexcept {
  e.kind = event_kind::lost;
  std::uint32_t first = 0, count = 0;
  transfer* t = claim_some(first, count);
  if (!t) {
    may_pull_.store(false, std::memory_order_relaxed);
    return 0;
  }
  const std::uint64_t offset = std::uint64_t{first} * c_.shape.piece_bytes;
  const std::uint64_t bytes = std::min<std::uint64_t>(std::uint64_t{count} * c_.shape.piece_bytes,
                                                      t->notice.bytes - offset);
  if (bytes > t->missing) {
    break_off("a large payload has more pieces than bytes");
    return 0;
  }
  bool whole = true;
  const auto said = c_.exposed->use(part_of(*t, offset, bytes), [&](std::span<std::byte> target) {
    whole = read_remote(c_.readable_pid, t->notice.address + offset, target);
  });
  if (said.what == exposures::answer::out_of_bounds) {
    break_off(behind_its_exposure);
    return 0;
  }
  transfer_line& shared = c_.slot.control->transfers[t->notice.number % transfers_max];
  if (!whole) {
    // Memory that only its owner can read, or a dying peer: the peer pushes these pieces, and all
    // later ones.
    c_.readable_pid = 0;
    may_pull_.store(false, std::memory_order_relaxed);
    c_.slot.control->pulls.store(0, std::memory_order_relaxed);
    shared.returned.store(std::uint64_t{count} << 32 | (first + 1), std::memory_order_release);
    c_.back->notify();
    return 0;
  }
  count_pulled(shared.pulled, bytes);
  t->pulled = true;
  if (said.what == exposures::answer::done && exposures::notified(t->notice.id))
    e = landed(said.token, bytes);
  arrived(*t, bytes);
  if (t->missing == 0) c_.back->notify();  // earlier, a sleeping sender would find nothing to do
  return bytes;
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
