#include "rails/shm/record_sender.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/fence.hpp"

namespace headway::rails::shm {
namespace {

/// The bell of a peer without a segment.
constinit std::atomic<std::uint32_t> closed_bell{doorbell::closed};

}  // namespace

record_sender::record_sender(attachment* way, bool fence_always) noexcept
    : ring_(way ? ring_memory(way->slot(), way->shape().ring_bytes) : ring_memory()),
      bell_(way ? way->head().bell : closed_bell),
      hurry_bell_(way ? way->head().hurry_bell : closed_bell),
      state_(way ? state::fresh : state::down),
      fence_always_(fence_always),
      way_(way) {}

bool record_sender::begin() noexcept {
  if (state_.load(std::memory_order_relaxed) == state::down || bell_.is_closed()) return false;
  // From now on the peer polls this slot. The release publishes this process's name.
  const std::uint32_t index = way_->slot_index();
  way_->head().active[index / 64].fetch_or(std::uint64_t{1} << (index % 64),
                                           std::memory_order_release);
  state_.store(state::up, std::memory_order_relaxed);  // read only by the sender
  return true;
}

/// Without memory for it, packets go through the ring.
void record_sender::reserve_buffer() noexcept {
  // Relaxed: it only decides which thread reserves; `set_peers` publishes the buffer.
  if (reserved_.exchange(true, std::memory_order_relaxed) || !way_) return;
  if (way_->reserve_passed()) passed_.set_peers(way_->slot().passed);
}

/// The ring was full a moment ago.
bool record_sender::reserve_late(std::uint64_t cells) noexcept {
  // Dekker with `receive_channel::release`: that stores consumed, fences, loads wants_room.
  ring_.memory().wants_room().store(1, std::memory_order_relaxed);
  base::store_load_fence();
  if (ring_.reserve(cells)) return true;
  starved_at_.store(ring_.consumed_seen(), std::memory_order_relaxed);
  hurry();  // what could wait takes the room of what cannot
  return false;
}

/// The peer copies each part out while the next one is copied in. All have about the same size.
record_sender::parts record_sender::parts_of(const packet& what) noexcept {
  const auto size = what.payload.size();
  if (!goes_in_parts(what)) return {.count = 1, .bytes = size};
  const auto count = std::max<std::size_t>(2, (size + part_bytes_max - 1) / part_bytes_max);
  return {.count = count,
          .bytes = (size + count * line_bytes - 1) / (count * line_bytes) * line_bytes};
}

namespace {

/// `send(head, header, part)` of each part: the header is the first one's, and the head says what
/// kind of record it is and how many bytes follow.
template <class Send>
void each_part(const packet& what, std::size_t part_bytes, Send&& send) noexcept {
  HEADWAY_DEBUG_ASSERT(what.payload.size() < 1 << 24);
  record_head head{.kind = record_kind::packet};
  auto header = what.header;
  for (auto left = what.payload; !left.empty();) {
    const auto part = left.first(std::min(part_bytes, left.size()));
    left = left.subspan(part.size());
    head.following = left.size();
    send(head, header, part);
    head.kind = record_kind::more;
    header = {};
  }
}

}  // namespace

post record_sender::send_in_parts(const packet& what) noexcept {
  const auto part_bytes = parts_of(what).bytes;
  const auto last = what.payload.size() % part_bytes;
  const std::uint64_t most = cells_of(gap_max + what.header.size() + part_bytes);
  const std::uint64_t all =
      most + (what.payload.size() / part_bytes - 1) * cells_of(gap_max + part_bytes) +
      cells_of(gap_max + last);
  // The first may have to begin on the next line, and any of them skip the ring's end.
  if (!reserve(all + cells_per_line + most)) [[unlikely]]
    return post::retry;
  each_part(what, part_bytes, [&](record_head head, auto header, auto part) {
    head.gap = gap_before(part, header.size());
    const auto cells = cells_of(head.gap + header.size() + part.size());
    [[maybe_unused]] const bool fits = reserve(cells);
    HEADWAY_DEBUG_ASSERT(fits);
    publish(head, cells, header, part, what.can_wait);
  });
  return post::done;
}

/// The parts lie one behind the other in a passed buffer, and each has a cell in the ring.
post record_sender::send_in_buffer(const packet& what) noexcept {
  const auto [count, part_bytes] = parts_of(what);
  // Two cells or more begin with a line.
  if (!reserve(count + cells_per_line)) [[unlikely]]
    return post::retry;
  auto where = passed_place::none;
  std::byte* at = passed_.take(where);
  HEADWAY_DEBUG_ASSERT(at);
  auto gap = gap_before(what.payload, what.header.size());
  at += sizeof(std::uint64_t) + gap;
  each_part(what, part_bytes, [&](record_head head, auto header, auto part) {
    head.bytes = header.size() + part.size();
    head.gap = std::exchange(gap, 0);
    head.place = where;
    copy_header(at, header);
    base::copy_between_cores(at + header.size(), part.data(), part.size());
    at += head.bytes;
    [[maybe_unused]] const bool fits = reserve(1);
    HEADWAY_DEBUG_ASSERT(fits);
    ring_.begin(1);
    leave(head, 1, what.can_wait);
  });
  return post::done;
}

post record_sender::write(record_kind kind, std::span<const std::byte> first,
                          std::span<const std::byte> second) noexcept {
  return write_record(kind, first, second, false);
}

}  // namespace headway::rails::shm
