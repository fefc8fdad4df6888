// Messages of which at least one end is not one block of memory. They go in packets, so that the
// sender packs each piece immediately before it leaves, while the piece before it is unpacked, and
// neither end needs memory for the whole message.
#include <algorithm>
#include <cstring>

#include "packets/peer_state.hpp"
#include "packets/transfer/rendezvous.hpp"
#include "packets/transfer/scattered_memory.hpp"

namespace headway::packets {
namespace {

std::uint64_t bytes_of(const transfer& t) noexcept {
  return t.scattered ? t.scattered->bytes() : t.memory.size();
}

/// Half of the largest packet: packing, copying and unpacking overlap in messages of a few pieces.
std::size_t piece_bytes_to(const peer& to) noexcept {
  constexpr std::size_t least = 512;  // every rail takes that much
  return std::clamp(to.eager_bytes_max() / 2, least, scattered_memory::packed_bytes_max);
}

}  // namespace

// ---- the receiver -------------------------------------------------------------------------------

void rendezvous::ask_for_pieces(transfer& into) noexcept {
  if (into.with->lost()) return end(into, false);
  into.shown_ = {};  // nothing is exposed: it comes in pieces
  into.held_ = true;
  const auto number = landings_.insert(into, [&](std::uint32_t given) { into.number_ = given; });
  send_answer(into, number,
              {.what = control_kind::pieces,
               .send_id = into.theirs_,
               .target = {.id = number, .bytes = into.left}});
}

bool rendezvous::arrived_piece(peer_state& from, std::span<const std::byte> packet) noexcept {
  piece_head head;
  if (!read_head(packet, head)) return false;
  const auto bytes = packet.subspan(sizeof head);
  transfer* into = nullptr;
  std::uint64_t left = 0;
  static_cast<void>(landings_.take_if(head.receive_id, [&](landing& one) {
    if (one.divided) return false;
    auto& t = static_cast<transfer&>(one);
    if (knows_of(from, t) && t.shown_.id == 0) into = &t;
    left = t.left;
    return false;
  }));
  if (!into) return true;  // as a late put
  const auto most = bytes_of(*into);
  if (bytes.empty() || bytes.size() > left || head.offset > most ||
      bytes.size() > most - head.offset)
    return false;
  if (into->scattered) into->scattered->unpack(head.offset, bytes);
  else std::memcpy(into->memory.data() + head.offset, bytes.data(), bytes.size());
  landed(token_of(head.receive_id, 0), bytes.size());
  return true;
}

// ---- the sender ---------------------------------------------------------------------------------

void rendezvous::asked_for_pieces(peer_state& from, const control& c) noexcept {
  transfer* t = take_send(c.send_id, from);
  if (!t) return;
  t->target = c.target;
  t->target.bytes = std::min(c.target.bytes, bytes_of(*t));
  t->left = t->target.bytes;
  send_pieces(*t);
}

/// Continues until a piece has to wait: then `piece_sent` continues.
void rendezvous::send_pieces(transfer& message) noexcept {
  peer& to = *message.with;
  const auto most = piece_bytes_to(to);
  while (message.left != 0) {
    const auto offset = message.target.bytes - message.left;
    const auto count = std::min<std::uint64_t>(message.left, most);
    write_head(message, piece_head{.receive_id = static_cast<std::uint32_t>(message.target.id),
                                   .offset = offset});
    message.payload = message.scattered ? message.scattered->pack(offset, count)
                                        : message.memory.subspan(offset, count);
    message.charge = 0;
    message.answered = false;
    message.fall_back_to_rts = nullptr;
    message.sent = &rendezvous::piece_sent;
    message.left -= count;
    const auto answer = to.post(message);
    if (answer == posted::pending) return;  // another thread may have the message now
    if (answer == posted::down) return end(message, false);
  }
  end(message, true);
}

void rendezvous::piece_sent(send_item& item, bool well) noexcept {
  auto& message = static_cast<transfer&>(item);
  if (!well) return end(message, false);
  send_pieces(message);
}

}  // namespace headway::packets
