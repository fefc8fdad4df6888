#include "rails/shm/piece_pusher.hpp"

#include <algorithm>

#include "rails/shm/atomic_calls.hpp"
#include "rails/shm/host.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {

bool piece_pusher::buffer_free() const noexcept {
  const std::uint32_t count = way_->shape().piece_count;
  const piece_line& line = way_->slot().control->pieces[buffer_ticket_ % count];
  return piece_is_free(line.turn, buffer_ticket_ / count);
}

bool piece_pusher::next_piece(std::uint32_t& number, std::uint32_t& piece) noexcept {
  const std::uint32_t posted = transfers_->end();
  for (number = transfers_->oldest(); number != begun(posted); ++number) {
    auto& p = transfers_->entry(number);
    if (p.returned_count == 0 && !transfers_->take_returned(number)) continue;
    piece = p.returned_first++;
    --p.returned_count;
    return true;
  }
  if (transfers_->leaves_copying()) return false;
  for (; next_push_ != posted; ++next_push_) {
    number = next_push_;
    if (transfers_->has_buffers()) {
      auto& claim = transfers_->line(number).claim;
      if (claim_pieces(claim, number, transfers_->piece_count(number), 1, piece) != 0) return true;
    } else if (transfers_->may_place(number)) {
      return false;  // later, when its target is known; or the peer reads it
    }
  }
  return false;
}

void piece_pusher::fill_buffer(std::uint32_t number, std::uint32_t piece) noexcept {
  const geometry& shape = way_->shape();
  const auto payload = transfers_->entry(number).payload;
  const std::size_t offset = std::size_t{piece} * shape.piece_bytes;
  if (offset >= payload.size()) return;  // the peer returned a piece that it never had
  const std::size_t bytes = std::min<std::size_t>(shape.piece_bytes, payload.size() - offset);
  const auto index = static_cast<std::uint32_t>(buffer_ticket_ % shape.piece_count);
  piece_line& line = way_->slot().control->pieces[index];
  const bool through_caches = !copy_to_pieces_.streams() && !copy_to_pieces_.times_next();
  const auto buffer = with_.buffers.fill(line.buffer, index, through_caches);
  line.buffer = buffer.says;
  with_.figures.fills.run(bytes, buffer_ticket_ % copy_figures::timed_period == 0, [&] {
    copy_to_pieces_.copy(buffer.at, payload.data() + offset, bytes);
    return true;
  });
  announce({.number = number, .offset = offset, .bytes = bytes});
}

/// A buffer is free: it is filled, or reports a placed piece.
void piece_pusher::announce(const piece_told& what) noexcept {
  const std::uint32_t count = way_->shape().piece_count;
  piece_line& line = way_->slot().control->pieces[buffer_ticket_ % count];
  line.transfer = what.number;
  line.bytes = static_cast<std::uint32_t>(what.bytes);
  line.offset = what.offset;
  line.placed = what.placed;
  fill_piece(line.turn, buffer_ticket_ / count);
  ++buffer_ticket_;
  transfers_->entry(what.number).pushed += what.bytes;
  records_->notify();
}

/// Copies some pieces directly to their target; 0: there is nothing to copy that way now.
std::size_t piece_pusher::place_some() noexcept {
  const std::uint32_t posted = transfers_->end();
  const std::size_t piece_bytes = way_->shape().piece_bytes;
  for (; next_push_ != posted; ++next_push_) {
    const std::uint64_t target = transfers_->target_of(next_push_);
    auto& p = transfers_->entry(next_push_);
    transfer_line& shared = transfers_->line(next_push_);
    const bool alone = shared.alone.load(std::memory_order_relaxed) != 0;  // after (G)
    if (target == 0 || (transfers_->leaves_copying() && !alone)) return 0;
    const auto wanted =
        static_cast<std::uint32_t>((alone ? alone_bytes : placed_bytes) / piece_bytes);
    std::uint32_t first = 0;
    const std::uint32_t count =
        claim_pieces(shared.claim, next_push_, transfers_->piece_count(next_push_),
                     std::max(wanted, 1u), first, alone);
    if (count == 0) continue;
    const std::size_t offset = first * piece_bytes;
    const auto bytes =
        p.payload.subspan(offset, std::min(count * piece_bytes, p.payload.size() - offset));
    if (!place(target + offset, bytes)) {
      transfers_->stop_placing(next_push_);  // of these pieces, and of all later ones
      records_->notify();
      p.returned_first = first;
      p.returned_count = count;
      return 0;
    }
    announce({.number = next_push_, .offset = offset, .bytes = bytes.size(), .placed = true});
    return bytes.size();
  }
  return 0;
}

bool piece_pusher::place(std::uint64_t target, std::span<const std::byte> bytes) noexcept {
  slot_control& control = *way_->slot().control;
  if (!begin_placing(control.placing, control.revoked)) return false;
  const bool whole =
      way_->process_runs() && write_remote(transfers_->writable_pid(), target, bytes);
  end_placing(control.placing);
  return whole;
}

/// The buffer is full: the peer is to notify this process when it frees one, if there is a piece
/// for it. True: it is free by now.
bool piece_pusher::is_freed_late() noexcept {
  auto& control = *way_->slot().control;
  if (!has_pieces()) {
    // Relaxed: a peer that still reads 1 notifies once too often.
    control.wants_buffer.store(0, std::memory_order_relaxed);
    return false;
  }
  const std::uint32_t count = way_->shape().piece_count;
  return is_free_or_wanted(control.wants_buffer, control.pieces[buffer_ticket_ % count].turn,
                           buffer_ticket_ / count);
}

void piece_pusher::push() noexcept {
  std::uint32_t number = 0, piece = 0;
  for (std::size_t copied = 0; copied < copy_budget_bytes;) {
    if (!buffer_free() && !is_freed_late()) return;
    if (const std::size_t placed = place_some(); placed != 0) {
      copied += placed;
      continue;
    }
    if (!next_piece(number, piece)) return;
    fill_buffer(number, piece);
    copied += way_->shape().piece_bytes;
  }
}

bool piece_pusher::could_push() noexcept { return buffer_free() ? has_pieces() : is_freed_late(); }

bool piece_pusher::has_pieces() noexcept {
  const std::uint32_t posted = transfers_->end();
  for (std::uint32_t n = transfers_->oldest(); n != begun(posted); ++n)
    if (transfers_->entry(n).returned_count != 0 || transfers_->take_returned(n)) return true;
  return next_push_ != posted &&
         (!transfers_->leaves_copying() || transfers_->copies_alone(next_push_)) &&
         (transfers_->has_buffers() || transfers_->target_of(next_push_) != 0);
}

/// The peer empties the buffers in order.
bool piece_pusher::buffers_emptied(std::uint64_t& ticket) const noexcept {
  if (ticket == atomic_calls::not_asked) ticket = buffer_ticket_;
  const std::uint32_t count = way_->shape().piece_count;
  if (ticket == 0) return true;
  const auto last = ticket - 1;
  return piece_is_emptied(way_->slot().control->pieces[last % count].turn, last / count);
}

std::size_t piece_pusher::report(peer_id peer, bool down, std::span<event> out) noexcept {
  const std::size_t count = transfers_->report(peer, down, out);
  // Of a transfer that failed, or that the peer has read alone, pieces were still to be pushed.
  if (static_cast<std::int32_t>(transfers_->oldest() - next_push_) > 0)
    next_push_ = transfers_->oldest();
  return count;
}

}  // namespace headway::rails::shm
