// Small messages that follow each other closely leave together.
#include "endpoints/packing.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "endpoints/parts.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint32_t costly_ns = 100;  // of a look at the rail: it is a system call

}  // namespace

void service_parts::learn_rails(std::size_t packed_bytes_max) noexcept {
  for (std::uint32_t p = 0; p < peers.size(); ++p) {
    auto& to = peers.at(p);
    auto& k = neighbours[p].pack;
    if (p == self || to.bundled()) continue;
    const auto limits = to.rail().query();
    neighbours[p].inline_bytes = limits.inline_bytes_max;
    if (packed_bytes_max == 0 || (limits.poll_cost_ns < costly_ns && !options.pack_always)) {
      const auto copied =
          share ? std::min(inline_max, limits.inline_bytes_max) : limits.inline_bytes_max;
      neighbours[p].at_once_bytes_end = copied + 1;
      continue;
    }
    k.parts = this;
    k.process = p;
    k.room = std::min(packed_message::room, to.eager_bytes_max());
    k.bytes_max = std::min(packed_bytes_max, k.room - sizeof(packed_entry));
    k.pays = true;
  }
}

/// True: the bytes are copied, and on their way.
bool service_parts::pack(const sending& what, std::uint32_t charge) noexcept {
  auto& k = neighbours[what.to.process].pack;
  if (!options.pack_always && !engine.watched()) return false;  // nobody would send what is left
  packed_message* into = nullptr;
  bool fresh = false, full = false;
  {
    const std::scoped_lock guard(k.lock);
    into = k.open.load(std::memory_order_relaxed);  // under the lock
    if (into && !into->fits(what.bytes, k.room)) {
      line_up(k);
      full = true;
      into = nullptr;
    }
    if (!into && (full || options.pack_always || k.in_a_run())) {
      into = make_record<packed_message>();
      fresh = into != nullptr;
      if (into) into->begin();
      k.open.store(into, std::memory_order_relaxed);  // for others: under the lock, or later (K)
    }
    if (into) into->add(what, charge);
  }
  if (full) {
    k.went();
    peers.at(what.to.process).send_lined_up();
  }
  if (fresh && k.errand.call()) engine.submit(k);
  return into != nullptr;
}

/// Under the lock: it is behind all that was posted before, and before all that will be.
void service_parts::line_up(packing& k) noexcept {
  packed_message* item = k.open.load(std::memory_order_relaxed);  // under the lock
  if (!item) return;
  item->payload = {item->entries.data(), item->used};
  peers.at(k.process).line_up(*item);
  k.open.store(nullptr, std::memory_order_release);  // (K)
}

void service_parts::send_packed(packing& k) noexcept {
  {
    const std::scoped_lock guard(k.lock);
    line_up(k);
  }
  peers.at(k.process).send_lined_up();
}

void service_parts::end_packing() noexcept {
  for (std::uint32_t p = 0; p < peers.size(); ++p) {
    auto& k = neighbours[p].pack;
    if (!k.pays) continue;
    send_packed(k);
    static_cast<void>(engine.cancel(k));
  }
}

progress::ltask_result packing::run(progress::ltask& self) noexcept {
  auto& k = static_cast<packing&>(self);
  k.errand.answer();  // who opens a packet from now on submits it again
  if (!k.empty()) {
    k.parts->send_packed(k);
    k.went();
  }
  return progress::ltask_result::done;
}

void packed_message::begin() noexcept {
  write_head(*this, plain_head{.kind = wire_kind::packed});
  used = 0;
}

bool packed_message::fits(std::size_t bytes, std::size_t room_bytes) const noexcept {
  return used + sizeof(packed_entry) + bytes <= room_bytes;
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

}  // namespace headway::endpoints
