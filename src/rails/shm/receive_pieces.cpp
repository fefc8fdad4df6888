// How a receiver takes the pieces of large payloads: out of buffers that the sender fills, or from
// the sender's memory.
#include <algorithm>

#include "base/clock.hpp"
#include "base/copy_between_cores.hpp"
#include "base/thread_role.hpp"
#include "rails/shm/pieces.hpp"
#include "rails/shm/receive_channel.hpp"

namespace headway::rails::shm {

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
  const auto number = static_cast<std::uint32_t>(ticket % c_.shape.piece_count);
  const auto name = line.buffer;
  const std::byte* const buffer = c_.back->pieces().find(name, number);
  if (!buffer) {
    break_off("a piece lies in no buffer");
    return 0;
  }
  const auto said = c_.exposed->use(part_of(t, offset, bytes), [&](std::span<std::byte> to) {
    if (placed) return;
    c_.back->figures().empties.run(bytes, ticket % copy_figures::timed_period == 0, [&] {
      if (c_.exposed->awaits_more_than_caches_hold())
        base::copy_past_caches(to.data(), buffer, bytes);
      else base::copy_from_writer(to.data(), buffer, bytes);
      return true;
    });
  });
  if (said.what == exposures::answer::out_of_bounds) {
    break_off(behind_its_exposure);
    return 0;
  }
  if (!placed) line.buffer = c_.back->pieces().read(name, number);
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

}  // namespace headway::rails::shm
