#include "rails/shm/incoming.hpp"

#include <algorithm>
#include <bit>

namespace headway::rails::shm {

incoming::incoming(const context& given)
    : takers_(std::make_unique<receive_channel*[]>(given.mine.shape().slot_count)),
      channels_(
          std::make_unique<std::unique_ptr<receive_channel>[]>(given.mine.shape().slot_count)),
      c_(given),
      word_count_((given.mine.shape().slot_count + 63) / 64),
      called_(std::make_unique<std::atomic<std::uint32_t>[]>(given.mine.shape().slot_count)) {}

std::size_t incoming::take(std::span<event> out) noexcept {
  std::size_t count = 0;
  std::uint32_t at = next_taker_;  // so that a peer that sends much does not fill `out` each time
  for (std::uint32_t i = 0; i < taker_count_ && count < out.size(); ++i) {
    if (at >= taker_count_) at = 0;
    count += takers_[at++]->take(out.subspan(count));
  }
  next_taker_ = at;
  return count;
}

template <class Visit>
bool incoming::any_fresh(Visit&& visit) const noexcept {
  for (std::uint32_t w = 0; w < word_count_; ++w) {
    // Acquire pairs with the release in `record_sender::begin`, for the process's name.
    std::uint64_t fresh = c_.mine.head().active[w].load(std::memory_order_acquire) &
                          ~seen_[w].load(std::memory_order_acquire);  // (S)
    for (; fresh != 0; fresh &= fresh - 1) [[unlikely]] {
      const std::uint32_t slot = w * 64 + static_cast<std::uint32_t>(std::countr_zero(fresh));
      if (slot >= c_.mine.shape().slot_count) break;  // a correct peer never sets this bit
      const slot_control& control = *c_.mine.slot(slot).control;
      const auto rank_plus_one = control.rank_plus_one.load(std::memory_order_relaxed);
      const processes::process_id process{.job = control.job.load(std::memory_order_relaxed),
                                          .rank = rank_plus_one - 1};
      if (rank_plus_one != 0 && process != c_.self && visit(slot, process)) return true;
    }
  }
  return false;
}

bool incoming::new_senders() const noexcept {
  return any_fresh([&](std::uint32_t slot, processes::process_id) {
    const auto peer = called_from(slot);
    return !peer || c_.links.find(*peer) != nullptr;
  });
}

std::size_t incoming::admit_senders(std::span<event> out) noexcept {
  std::size_t count = 0;
  any_fresh([&](std::uint32_t slot, processes::process_id process) {
    const auto reported = called_from(slot);
    const peer_id peer = reported ? *reported : c_.known.add(process);
    if (send_channel* back = c_.links.find(peer)) {
      admit(slot, *back);
      seen_[slot / 64].fetch_or(std::uint64_t{1} << slot % 64, std::memory_order_release);  // (S)
    } else if (!reported && count < out.size()) {
      called_[slot].store(static_cast<std::uint32_t>(peer) + 1, std::memory_order_relaxed);
      out[count++] = {.kind = event_kind::called, .peer = peer};
    }
    return false;
  });
  return count;
}

void incoming::admit(std::uint32_t slot, send_channel& back) noexcept {
  auto& made = channels_[slot] = std::make_unique<receive_channel>();
  made->begin({.slot = c_.mine.slot(slot),
               .shape = c_.mine.shape(),
               .record_bytes_max = c_.record_bytes_max,
               .index = slot,
               .back = &back,
               .exposed = &c_.exposed,
               .readable_pid = back.readable_pid(),
               .clock = c_.clock});
  takers_[taker_count_++] = made.get();
  taken_.store(taker_count_, std::memory_order_release);  // (S)
}

const slot_control* incoming::slot_of(peer_id peer) const noexcept {
  const slot_control* found = nullptr;
  const auto wanted = c_.known.at(peer);
  any_fresh([&](std::uint32_t slot, processes::process_id whose) {
    if (whose != wanted) return false;
    found = c_.mine.slot(slot).control;
    return true;
  });
  return found;
}

bool incoming::waits_from(const send_channel& peer) const noexcept {
  return slot_of(peer.peer()) != nullptr ||
         std::ranges::any_of(admitted(), [&](receive_channel* t) {
           return t->belongs_to(peer) && t->waiting(arrivals::all);
         });
}

bool incoming::waiting(arrivals which) const noexcept {
  return std::ranges::any_of(admitted(), [&](receive_channel* t) { return t->waiting(which); });
}

void incoming::take_back_targets(std::uint64_t holders) noexcept {
  if (holders == 0) return;
  for (auto* t : admitted())
    if ((holders >> t->holder() & 1) != 0) t->take_back_targets();
}

}  // namespace headway::rails::shm
