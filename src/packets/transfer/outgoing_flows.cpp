#include "packets/transfer/outgoing_flows.hpp"

#include <utility>

#include "base/assert.hpp"
#include "packets/bundle/bundle_set.hpp"
#include "packets/bundle/lane.hpp"
#include "packets/cookies.hpp"
#include "packets/scheduler.hpp"

namespace headway::packets {

void outgoing_flows::asked(transfer& whole, const control& c) noexcept {
  flow_piece& piece = of_.set.pieces.take();
  bool sound = false;
  {
    const base::lock_guard guard(lock_);
    sound = !whole.over_ && c.offset <= whole.memory.size() &&
            c.target.bytes <= whole.memory.size() - c.offset;
    if (sound) {
      if (!std::exchange(whole.asked_, true)) {
        ++under_way_;
        of_.host.mark_active();
      }
      HEADWAY_DEBUG_ASSERT(c.lane < of_.lanes.count());  // checked by `peer_state::arrived_own`
      ++whole.pieces_out_;
      piece.of = this;
      piece.whole = &whole;
      piece.lane = c.lane;
      piece.head_bytes = 0;
      piece.target = c.target;
      piece.payload = whole.memory.subspan(c.offset, c.target.bytes);
      piece.sent = &outgoing_flows::piece_sent;
      if (whole.urgent) {
        pieces_[c.lane].push_front(piece);
      } else {
        pieces_[c.lane].push_back(piece);
      }
      waiting_pieces_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (sound) return of_.host.pump();
  of_.set.pieces.give_back(piece);
  of_.host.broken("a request for what no message has");
}

bool outgoing_flows::over(transfer& whole, bool well) noexcept {
  const base::lock_guard guard(lock_);
  whole.over_ = true;
  whole.well_ = well;
  if (whole.pieces_out_ != 0) return false;  // the driver of a lost rail still has some
  if (whole.asked_) --under_way_;
  return true;
}

// ---- in S ---------------------------------------------------------------------------------------

bool outgoing_flows::send_pieces() noexcept {
  if (waiting_pieces_.load(std::memory_order_relaxed) == 0) return true;
  bool all = true;
  for (std::uint32_t i = 0; i < of_.lanes.count(); ++i) {
    lane& l = of_.lanes[i];
    bool more = l.helper.free();
    while (more) more = send_next(l, i);
    const base::lock_guard guard(lock_);
    all &= pieces_[i].empty();
  }
  return all;
}

/// True: the next one may be sent.
bool outgoing_flows::send_next(lane& l, std::uint32_t number) noexcept {
  flow_piece* piece = nullptr;
  {
    const base::lock_guard guard(lock_);
    piece = pieces_[number].pop_front();
  }
  if (!piece) return false;
  waiting_pieces_.fetch_sub(1, std::memory_order_relaxed);
  l.pieces_out.fetch_add(1, std::memory_order_relaxed);  // before its event can come
  const auto bytes = piece->payload.size();
  piece->departure = l.departures.given(of_.clock.now_ns(), bytes);
  const auto said =
      l.via.memory()->put(of_.to, {.exposed = piece->target}, piece->payload, cookie_of(*piece));
  if (said == rails::post::posted) {
    engine_.pending_started();  // ended with its event, see rail.cpp
    return true;
  }
  l.pieces_out.fetch_sub(1, std::memory_order_relaxed);
  if (said == rails::post::done) {
    l.departures.gone(of_.clock.now_ns(), piece->departure, rail_departures::kernel_bytes);
  } else {
    l.departures.taken_back(bytes);
  }
  if (said == rails::post::retry) {
    const base::lock_guard guard(lock_);
    pieces_[number].push_front(*piece);
    waiting_pieces_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (said == rails::post::down) l.refused.store(true, std::memory_order_relaxed);
  of_.queue.tell([&] {
    // The peer may not know of the loss, or may have reconnected already: it has to ask again.
    if (said == rails::post::down)
      of_.host.send_control(
          {.what = control_kind::refused, .lane = piece->lane, .target = piece->target});
    piece_over(*piece);
  });
  return true;
}

void outgoing_flows::drop_pieces() noexcept {
  for (std::size_t rail = 0; rail < rails_per_peer_max; ++rail)
    while (true) {
      flow_piece* piece = nullptr;
      {
        const base::lock_guard guard(lock_);
        piece = pieces_[rail].pop_front();
      }
      if (!piece) break;
      waiting_pieces_.fetch_sub(1, std::memory_order_relaxed);
      of_.queue.tell([&] { piece_over(*piece); });
    }
}

// ---- their ends ---------------------------------------------------------------------------------

/// From a driver's event.
void outgoing_flows::piece_sent(send_item& item, bool) noexcept {
  auto& piece = static_cast<flow_piece&>(item);
  auto& flows = *piece.of;
  lane& l = flows.of_.lanes[piece.lane];
  l.pieces_out.fetch_sub(1, std::memory_order_relaxed);
  l.departures.gone(flows.of_.clock.now_ns(), piece.departure, rail_departures::kernel_bytes);
  flows.piece_over(piece);
}

/// A driver has finished with a piece, sent or not: the peer asks again for what it misses.
void outgoing_flows::piece_over(flow_piece& piece) noexcept {
  transfer* ended = nullptr;
  {
    const base::lock_guard guard(lock_);
    transfer& whole = *piece.whole;
    HEADWAY_DEBUG_ASSERT(whole.pieces_out_ > 0);
    if (--whole.pieces_out_ == 0 && whole.over_) {
      --under_way_;
      ended = &whole;
    }
  }
  of_.set.pieces.give_back(piece);
  if (ended) rendezvous::end(*ended, ended->well_);
}

}  // namespace headway::packets
