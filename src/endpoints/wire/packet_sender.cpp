#include "endpoints/wire/packet_sender.hpp"

#include <algorithm>
#include <cstring>

namespace headway::endpoints {
namespace {

constexpr std::uint32_t costly_ns = 100;  // a poll of the rail that costs more is a system call

}  // namespace

void packed_message::begin() noexcept {
  write_head(*this, plain_head{.kind = wire_kind::packed});
  used = 0;
}

void packed_message::add(const sending& what, std::uint32_t units) noexcept {
  const packed_entry entry{.to = what.to.id,
                           .from = what.from,
                           .tag = what.tag,
                           .bytes = static_cast<std::uint16_t>(what.bytes),
                           .charge = static_cast<std::uint16_t>(units)};
  std::memcpy(entries.data() + used, &entry, sizeof entry);
  used += sizeof entry;
  if (what.bytes != 0) std::memcpy(entries.data() + used, what.data, what.bytes);
  used += what.bytes;
}

void packet_sender::finish(packet_record& item) noexcept {
  pool& own = *item.buffers;
  auto* contents = item.contents;
  const bool lent = item.lent;
  auto* told = item.told;
  own.end_message(*item.self, false);
  if (contents) own.end_message(*contents, lent);
  if (told) told->complete();
}

packets::posted packet_sender::post(std::uint32_t process, packet_record& item) noexcept {
  const auto answer = peers_.at(process).post(item);
  if (answer == packets::posted::down) losses_.lose(process);  // it has left, or is lost
  return answer;
}

packets::posted packet_sender::post_in_order(std::uint32_t process, packet_record& item) noexcept {
  auto& k = remotes_[process].pack;
  const bool others = !k.empty();
  if (others) k.line_up();
  const auto answer = post(process, item);
  // The peer is lost: ends what was lined up.
  if (others && answer == packets::posted::down) peers_.at(process).send_lined_up();
  return answer;
}

template <class Head>
void packet_sender::tell(std::uint32_t process, const Head& head,
                         std::span<const std::byte> text) noexcept {
  HEADWAY_ASSERT(process < remotes_.size() && text.size() <= name_bytes_max + 1);
  if (remotes_[process].lost.load(std::memory_order_relaxed)) return;  // a fact
  meet(process);
  auto& item = make_control<control_packet>();
  write_head(item, head);
  std::ranges::copy(text, item.text.begin());
  item.payload = {item.text.data(), text.size()};
  if (post(process, item) != packets::posted::pending) finish(item);
}

template void packet_sender::tell(std::uint32_t, const message_head&,
                                  std::span<const std::byte>) noexcept;
template void packet_sender::tell(std::uint32_t, const name_head&,
                                  std::span<const std::byte>) noexcept;
template void packet_sender::tell(std::uint32_t, const plain_head&,
                                  std::span<const std::byte>) noexcept;
template void packet_sender::tell(std::uint32_t, const zone_head&,
                                  std::span<const std::byte>) noexcept;

void packet_sender::take_leave(std::uint32_t process, std::uint32_t self,
                               progress::completion& done) noexcept {
  auto& item = make_control<packet_record>();
  write_head(item, plain_head{.kind = wire_kind::leaving, .process = self});
  item.told = &done;
  if (peers_.at(process).post(item) != packets::posted::pending) finish(item);
}

void packet_sender::meet_first(std::uint32_t process) noexcept {
  auto& to = peers_.at(process);  // may wait, so not under the lock
  auto& n = remotes_[process];
  {
    const base::lock_guard guard(rail_facts_lock_);
    if (n.met.load(std::memory_order_relaxed)) return;  // under the lock
    learn_rail(process, to);
    n.met.store(true, std::memory_order_release);  // (E)
  }
  start_use();
}

/// Chooses the way of small messages to this process.
void packet_sender::learn_rail(std::uint32_t process, packets::peer& to) noexcept {
  auto& n = remotes_[process];
  const auto eager_bytes_max = to.eager_bytes_max();
  n.inline_bytes = to.inline_bytes_max();
  if (n.inline_bytes == 0) return;
  if (settings_.pack_bytes == 0 || (to.poll_cost_ns() < costly_ns && !settings_.pack_always)) {
    const auto copied =
        settings_.share ? std::min(settings_.inline_bytes, n.inline_bytes) : n.inline_bytes;
    n.at_once_bytes_end = copied + 1;
    return;
  }
  const auto room = std::min(packed_message::room, eager_bytes_max);
  if (room <= sizeof(packed_entry)) return;
  const auto bytes_max = std::min(settings_.pack_bytes, room - sizeof(packed_entry));
  n.pack.start(*this, process, room, bytes_max + 1, settings_.pack_always);
}

void packet_sender::start_use() noexcept {
  if (!in_use_.load(std::memory_order_relaxed) &&
      !in_use_.exchange(true, std::memory_order_relaxed))
    engine_.pending_started();
}

void packet_sender::stop_packing() noexcept {
  remotes_.each([](std::uint32_t, remote_process& n) {
    if (n.met.load(std::memory_order_acquire)) n.pack.stop();  // (E)
  });
}

void packet_sender::end_use() noexcept {
  if (in_use_.load(std::memory_order_relaxed)) engine_.pending_ended();
}

}  // namespace headway::endpoints
