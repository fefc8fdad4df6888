#include "packets/bundle/bundle.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "packets/bundle/bundle_set.hpp"
#include "packets/scheduler.hpp"
#include "sampling/threshold.hpp"

namespace headway::packets {

bundle::bundle(bundle_owner& owner, rails::peer_id to, bundle_set& set, scheduler& queue,
               credit_account& credits, progress::engine& engine, std::size_t ring_bytes)
    : owner_(owner),
      engine_(engine),
      context_{.host = *this,
               .to = to,
               .lanes = lanes_,
               .set = set,
               .queue = queue,
               .clock = engine.clock()},
      sender_(context_, credits, engine, ring_bytes),
      incoming_(context_),
      outgoing_(context_, engine),
      monitor_(context_, sender_, incoming_, outgoing_),
      receiver_(context_, sender_, ring_bytes) {}

void bundle::add_lane(rails::driver& via, std::size_t rail_index, const lane::shared& rails_own) {
  HEADWAY_ASSERT(via.health() && via.memory());  // what is lost with it goes over another one
  auto made =
      std::make_unique<lane>(via, rail_index, rails_own, context_.set.health, &part_sender::help);
  made->profile = sampling::profile::guessed(made->what.latency_ns, 1);
  sender_.bound_frames(made->what.eager_bytes_max);
  eager_bytes_max_ =
      sender_.frame_bytes_max() - send_item::head_bytes_max - 2 * sizeof(packet_mark);
  made->proved.store(false, std::memory_order_relaxed);
  lanes_.add(std::move(made));
}

void bundle::know(std::size_t rail_index, const sampling::profile& known) noexcept {
  /// Below this size, handling a piece costs more than its transfer.
  constexpr std::uint64_t divided_bytes_min = 8 * 1024;
  lane* one = lanes_.on_rail(rail_index);
  if (!one) return;
  one->profile = known;
  one->measured = one->packets_measured = true;
  one->departures.measured(known.piece.rate());
  // With profiles of all rails, the size from which a division pays can be computed.
  std::vector<const sampling::profile*> all;
  for (const auto& l : lanes_)
    if (l->measured) all.push_back(&l->profile);
  if (all.size() < lanes_.count()) return;
  eager_bytes_max_ = std::min<std::size_t>(
      eager_bytes_max_, sampling::dividing_pays_from(all, eager_bytes_max_, divided_bytes_min));
}

std::optional<sampling::profile> bundle::learnt(std::size_t rail_index) const noexcept {
  // After so many samples, each weighed with a quarter, the initial guess has no influence.
  constexpr std::uint32_t lessons_min = 16;
  const lane* l = lanes_.on_rail(rail_index);
  if (!l || l->lessons < lessons_min) return std::nullopt;
  auto known = l->profile;
  if (!l->packets_measured) known.eager = known.piece;  // nearer than the first guess
  return known;
}

bool bundle::at_rest() const noexcept { return !active() || context_.queue.lost(); }

// ---- what arrives -------------------------------------------------------------------------------

void bundle::arrived(lane& on, std::span<const std::byte> bytes, std::uint64_t now_ns) noexcept {
  on.activity_ns = now_ns;
  frame_head head;
  if (!read_head(bytes, head)) return broken("a frame shorter than its head");
  if (!sender_.acknowledged(head.acknowledged)) return broken("an acknowledgement of nothing sent");
  const auto contents = bytes.subspan(sizeof head);
  sender_.probe();
  // A question proves only that the peer's frames arrive here; an answer, or data, proves the other
  // direction, too.
  if (head.kind != frame_kind::ask && !on.proved.load(std::memory_order_relaxed)) [[unlikely]]
    monitor_.prove(on, now_ns);
  switch (head.kind) {
    case frame_kind::ack:
      on.answered_ns = now_ns;
      return;
    case frame_kind::ask:
      sender_.answer_on(lanes_.number_of(on));
      return pump();
    case frame_kind::data:
      break;
    default:
      return broken("a frame of no known kind");
  }
  if (head.bytes != contents.size()) return broken("a frame of another size than it says");
  receiver_.arrived(head, contents);
}

void bundle::lane_down(std::uint8_t number) noexcept {
  monitor_.kill(lanes_[number], false, "given up by the peer", context_.clock.now_ns());
}

void bundle::ask_again(std::uint8_t number) noexcept {
  incoming_.retake(lanes_[number], context_.clock.now_ns());
}

void bundle::broken(const char* what) noexcept {
  base::log(base::severity::error, "peer {} sent {}", static_cast<std::uint32_t>(context_.to),
            what);
  owner_.lose();
}

// ---- what is under way --------------------------------------------------------------------------

void bundle::pump() noexcept { context_.queue.pump(); }

void bundle::reaped(std::size_t rail_index) noexcept {
  context_.queue.within([&] {
    sender_.unblock(rail_index);
    context_.queue.round();
  });
}

void bundle::mark_waiting(bool is) noexcept {
  if (waiting_.load(std::memory_order_relaxed) != is &&
      waiting_.exchange(is, std::memory_order_relaxed) != is)
    context_.set.bundle_waiting(is);
}

void bundle::mark_active() noexcept {
  if (active_.load(std::memory_order_relaxed)) return;
  if (!active_.exchange(true, std::memory_order_relaxed)) context_.set.bundle_active(true);
}

void bundle::look(std::uint64_t now_ns) noexcept {
  if (failed_) return rest_if_done();
  monitor_.look(now_ns);
  if (receiver_.owes()) receiver_.acknowledge_now();
  incoming_.feed_starving(now_ns);
  pump();
  monitor_.give_up_if_cut_off(now_ns);
  rest_if_done();
}

/// The bundle is marked active in R, in S or under one of the flows' locks, and this function holds
/// all of them: no mark is overlooked.
void bundle::rest_if_done() noexcept {
  if (!active() || monitor_.cut_off()) return;
  const auto rest = [&] {
    if (active_.exchange(false, std::memory_order_relaxed)) context_.set.bundle_active(false);
  };
  context_.queue.within([&] {
    if (failed_) return rest();
    if (!sender_.at_rest() || !context_.queue.idle() || waiting()) return;
    incoming_.if_none([&] { outgoing_.if_none(rest); });
  });
}

void bundle::fail_all() noexcept {
  if (std::exchange(failed_, true)) return;
  monitor_.end();
}

void bundle::end_help() noexcept {
  for (const auto& l : lanes_) static_cast<void>(engine_.cancel(l->helper));
}

// ---- packets between bundles --------------------------------------------------------------------

void bundle::send_control(const control& c) noexcept {
  control_item& item = context_.set.controls.take();
  item.of = this;
  write_head(item, c);
  item.urgent = true;
  item.sent = &bundle::control_sent;
  if (context_.queue.post(item) != posted::pending) context_.set.controls.give_back(item);
}

void bundle::control_sent(send_item& item, bool) noexcept {
  auto& c = static_cast<control_item&>(item);
  c.of->context_.set.controls.give_back(c);
}

}  // namespace headway::packets
