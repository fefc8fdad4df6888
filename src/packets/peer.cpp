#include "packets/peer.hpp"

#include <cstring>

#include "packets/nudger.hpp"

namespace headway::packets {

receiver& receivers::of(std::uint8_t kind) const noexcept {
  return kind >= beside_kinds && second ? *second : *first;
}

std::size_t peer::inline_bytes_max() const noexcept {
  const auto& only = scheduler_.direct();
  return only.is_open() ? only.driver().packet_limits_to(id_).inline_bytes_max : 0;
}

std::uint32_t peer::poll_cost_ns() const noexcept {
  const auto& only = scheduler_.direct();
  return only.is_open() ? only.driver().query().poll_cost_ns : 0;
}

posted peer::post_later(send_item& item) noexcept {
  const auto answer = scheduler_.post_later(item);
  services_.nudge.nudge();
  return answer;
}

void peer::consumed_late(std::uint32_t bytes) noexcept {
  credits_.consumed_late(bytes);
  return_credit_if_due();
}

void peer::return_credit() noexcept {
  if (credit_flying_.exchange(true, std::memory_order_acquire)) return;  // pairs with credit_sent
  credit_item_.head_bytes = sizeof(stream_head);
  const stream_head head{.kind = own_kind};
  std::memcpy(credit_item_.head.data(), &head, sizeof head);
  credit_item_.sent = &peer::credit_sent;
  credit_item_.self = this;
  if (post(credit_item_) != posted::pending) credit_flying_.store(false, std::memory_order_release);
}

void peer::credit_sent(send_item& item, bool) noexcept {
  static_cast<credit_return&>(item).self->credit_flying_.store(
      // the next user of the item must see that this use is over
      false, std::memory_order_release);
}

}  // namespace headway::packets
