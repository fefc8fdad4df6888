#include "packets/scheduler.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "packets/frames.hpp"

namespace headway::packets {
namespace {

/// Whether it keeps the promises of `send_item`.
[[maybe_unused]] bool is_whole(const send_item& item) noexcept {
  const bool tells = item.head_bytes != 0;
  return item.sent && item.head_bytes <= send_item::head_bytes_max &&
         (!tells || item.head_bytes >= sizeof(stream_head)) &&
         (item.charge == 0 || item.fall_back_to_rts);
}

}  // namespace

const void* scheduler::own_word() noexcept {
  thread_local const char word = 0;
  return &word;
}

void scheduler::open(const single_rail::way& over) noexcept {
  HEADWAY_ASSERT(!sender_);
  stalled_rail = over.index;
  direct_.open(over);
  sender_ = &direct_;
}

// ---- collect ------------------------------------------------------------------------------------

posted scheduler::post(send_item& item) noexcept {
  if (lost()) return posted::down;
  HEADWAY_DEBUG_ASSERT(is_whole(item));
  auto answer = posted::pending;
  if (!mask_.try_hold()) {
    line_up(item);
    flush();
  } else {
    const bool straight = direct_.is_open() && waiting_.empty() && !mask_.any_submitted();
    answer = straight ? post_straight(item) : post_behind(item);
    const bool to_be_told = direct_.to_be_told();
    let_go();
    if (to_be_told) direct_.tell_of_collected();
  }
  end_if_lost();
  return answer;
}

posted scheduler::post_straight(send_item& item) noexcept {
  switch (direct_.collects() ? direct_.take(item, how(item)) : direct_.transmit(item)) {
    case single_rail::taken::whole:
      return posted::done;
    case single_rail::taken::in_part:
      break;
    case single_rail::taken::not_yet:
      waiting_.append(item);
      stall();
      break;
    case single_rail::taken::never:
      if (!item.answered || !item.fall_back_to_rts) return posted::down;
      ended(item, false);  // it has fallen back to a request to send, and bears a number
      break;
  }
  return posted::pending;
}

posted scheduler::post_behind(send_item& item) noexcept {
  adopt_submitted();
  waiting_.append(item);
  // With a single rail, the item ends as the others do: before the loss of the peer is reported.
  posting_ = direct_.is_open() ? nullptr : &item;
  posting_done_ = false;
  round();
  posting_ = nullptr;
  return posting_done_ ? posted::done : posted::pending;
}

posted scheduler::post_later(send_item& item) noexcept {
  if (!direct_.is_open()) return post(item);
  if (lost()) return posted::down;
  HEADWAY_DEBUG_ASSERT(is_whole(item));
  if (!mask_.try_hold()) {
    line_up(item);
    flush();
  } else {
    adopt_submitted();
    waiting_.append(item);
    stall();
    let_go();
  }
  end_if_lost();
  return posted::pending;
}

bool scheduler::post_now(const prompt_packet& what) noexcept {
  if (!direct_.is_open() || lost() || !mask_.try_hold()) return false;
  const bool straight = waiting_.empty() && !mask_.any_submitted() && !direct_.has_collected();
  const bool done = straight && direct_.transmit_now(what);
  let_go();
  return done;
}

void scheduler::send_lined_up() noexcept {
  flush();
  end_if_lost();
}

void scheduler::adopt_submitted() noexcept {
  if (!mask_.any_submitted()) return;
  send_item* item = mask_.take_all();
  while (item) {
    send_item* following = item->next.load(std::memory_order_relaxed);
    waiting_.append(*item);
    item = following;
  }
}

void scheduler::flush() noexcept {
  while (more_wanted() && mask_.try_hold()) {
    // requests up to here are served by what follows
    again_.store(false, std::memory_order_relaxed);
    round();
    mask_.let_go();
  }
}

void scheduler::pump() noexcept {
  if (within([this] { round(); })) return;
  again_.store(true, std::memory_order_seq_cst);  // (G)
  flush();
}

bool scheduler::send_collected() noexcept {
  bool all = false;
  return within([&] {
           round();
           all = !direct_.has_collected();
         }) &&
         all;
}

// ---- optimise -----------------------------------------------------------------------------------

/// How many of the packets that wait leave now on rail `on`: the strategy's choice if it is valid,
/// else the first one.
std::size_t scheduler::choose(std::uint32_t on) noexcept {
  const auto room = sender_->room();
  const auto most = std::min(room.wanted.packets_max, send_list::shown_max);
  HEADWAY_DEBUG_ASSERT(most > 0 && !waiting_.empty());
  if (direct_.is_open() && (most == 1 || waiting_.count() == 1)) return 1;  // nothing to choose
  std::array<rail_state, rails_per_peer_max> states;
  const auto rails = std::span(states).first(sender_->describe(states));
  // The strategy of the first packet applies to all that leave with it.
  const auto& strategy = how(*waiting_.first());
  const auto wanted = frame_room{.packets_max = most, .bytes_max = room.wanted.bytes_max};
  const auto count = strategy.choose(waiting_.shown(), on, rails, wanted);
  if (count == 0 && rails.size() > 1) return 0;
  return count <= most && fits_in_frame(count, room.bytes_max) ? count : 1;
}

/// Whether the first `count` packets can leave as one frame.
bool scheduler::fits_in_frame(std::size_t count, std::size_t bytes_max) const noexcept {
  if (count <= 1) return count == 1;
  if (count > waiting_.count()) return false;
  std::size_t bytes = 0;
  const send_item* item = waiting_.first();
  for (std::size_t i = 0; i < count; ++i, item = item->next.load(std::memory_order_relaxed)) {
    if (item->head_bytes == 0) return false;  // bytes for exposed memory cannot be in a frame
    bytes += room_in_frame(*item);
  }
  return bytes <= bytes_max;
}

// ---- transfer -----------------------------------------------------------------------------------

void scheduler::round() noexcept {
  adopt_submitted();
  if (lost()) return drop_waiting();
  HEADWAY_DEBUG_ASSERT(sender_);  // a peer that no rail reaches is lost from the start
  const bool flowing = sender_->prepare() && send_waiting();
  sender_->finish(flowing);
}

/// True: nothing waits any more.
bool scheduler::send_waiting() noexcept {
  std::array<send_item*, send_list::shown_max> list;
  std::uint32_t passed_over = 0;
  while (!waiting_.empty()) {
    const int idle = sender_->idle_rail(passed_over, room_in_frame(*waiting_.first()));
    if (idle < 0) return false;
    const auto on = static_cast<std::uint32_t>(idle);
    if (waiting_.count() == 1) {
      // Removed before it is sent: as soon as a rail has it, it may be gone.
      send_item* alone = waiting_.pop_front();
      if (sender_->send_in_parts(on, *alone)) continue;
      waiting_.append(*alone);
    }
    const auto count = choose(on);
    if (count == 0) {
      passed_over |= 1u << on;
      continue;
    }
    const auto chosen = std::span(list).first(count);
    for (auto*& item : chosen) item = waiting_.pop_front();
    switch (sender_->send(on, chosen)) {
      case packet_sender::answer::taken:
        break;
      case packet_sender::answer::retry:
        waiting_.put_back(chosen);
        passed_over |= 1u << on;
        break;
      case packet_sender::answer::full:
        waiting_.put_back(chosen);
        return false;
      case packet_sender::answer::down:
        for (send_item* item : chosen) ended(*item, false);
        break;
    }
  }
  return true;
}

void scheduler::ended(send_item& item, bool well) noexcept {
  if (&item == posting_ && well) {
    posting_done_ = true;
    return;
  }
  tell([&] { item.sent(item, well); });
}

bool scheduler::resume() noexcept {
  if (!mask_.try_hold()) {
    stalled_.keep(*this);
    return false;
  }
  adopt_submitted();
  const send_item* before = waiting_.first();
  const bool had_collected = direct_.has_collected();
  if (lost()) drop_waiting();
  const bool flowing = sender_->prepare() && send_waiting();
  const bool moved = waiting_.first() != before || (had_collected && !direct_.has_collected());
  if (flowing) {
    stalled_.remove(*this);  // under the mask, whose holder alone marks it as stalled
  } else {
    stalled_.keep(*this);
  }
  let_go();
  if (flowing) stalled_.ended();
  return moved;
}

// ---- loss ---------------------------------------------------------------------------------------

void scheduler::drop_waiting() noexcept {
  while (send_item* item = waiting_.pop_front()) ended(*item, false);
  if (sender_) sender_->drop();
}

void scheduler::end_waiting() noexcept {
  for (base::backoff its_holder; !mask_.try_hold();) its_holder.wait();
  adopt_submitted();
  drop_waiting();
  drained_.store(true, std::memory_order_relaxed);  // (D)
  let_go();
}

void scheduler::end_if_lost() noexcept {
  if (!lost()) return;
  // Posted inside a `tell`: this thread holds the mask, and looks again before it releases it. The
  // thread that has set `lost_` waits for the mask before it calls the modules above.
  if (telling_.load(std::memory_order_relaxed) == own_word()) return;
  end_waiting();
}

}  // namespace headway::packets
