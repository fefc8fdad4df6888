// Who holds a buffer: what the program does with it, and what messages do.
#include "endpoints/pool.hpp"

namespace headway::endpoints {
namespace {

/// Has anybody borrowed a buffer in this state?
bool is_lent(std::uint32_t state) noexcept {
  constexpr auto others = block::held | block::free_state | block::flying | block::landed;
  return (state & ~others) != 0 && (state & (others & ~block::held)) == 0;
}

}  // namespace

wrong pool::trouble_in(std::uint32_t state) noexcept {
  if (state == block::free_state) return wrong::released;
  if (state == block::flying || state == block::landed) return wrong::in_flight;
  // Its hold is gone, and what is left is receivers'; or it has it and messages use it.
  return (state & block::held) != 0 ? wrong::in_use : wrong::released;
}

wrong pool::release_lent(block& b) noexcept {
  if (!is_lent(b.state.load(std::memory_order_relaxed))) return wrong::released;  // a check
  arrived_nowhere(b, true);
  return wrong::none;
}

wrong pool::release_later(const void* data) noexcept {
  const found f = find(data);
  if (f.trouble != wrong::none) return f.trouble;
  if (f.lent) return release(data);
  auto state = f.header->state.load(std::memory_order_relaxed);  // checked by the exchange
  std::uint32_t after = 0;
  do {
    if ((state & block::held) == 0) return trouble_in(state);
    after = state == block::held ? block::free_state : state & ~block::held;
  } while (!f.header->state.compare_exchange_weak(state, after,
                                                  std::memory_order_acq_rel,  // (R), (A)
                                                  std::memory_order_relaxed));
  if (after == block::free_state) give_back(*f.header);
  return wrong::none;
}

wrong pool::probe(const void* data, bool& idle) noexcept {
  const found f = find(data);
  if (f.trouble != wrong::none) return f.trouble;
  const auto state = f.header->state.load(std::memory_order_acquire);  // (A)
  idle = f.lent ? state == 1 : state == block::held;
  if (f.lent) return wrong::none;
  return (state & block::held) != 0 ? wrong::none : trouble_in(state);
}

wrong pool::sent(const found& f, bool keep) noexcept {
  if (f.trouble != wrong::none) return f.trouble;
  auto& state = f.header->state;
  auto before = state.load(std::memory_order_relaxed);  // checked by the exchange
  if (f.lent) {
    if (!is_lent(before)) return wrong::released;
    // The hold goes with the message; one more if the sender keeps its own.
    if (keep) state.fetch_add(1, std::memory_order_release);  // (R)
    return wrong::none;
  }
  if (keep) {
    do {
      if ((before & block::held) == 0) return trouble_in(before);
    } while (!state.compare_exchange_weak(before, before + 1, std::memory_order_release,  // (R)
                                          std::memory_order_relaxed));
    return wrong::none;
  }
  std::uint32_t expected = block::held;
  if (!state.compare_exchange_strong(expected, block::flying, std::memory_order_release,  // (R)
                                     std::memory_order_relaxed))
    return trouble_in(expected);
  return wrong::none;
}

void pool::unsent(const found& f, bool keep) noexcept {
  if (f.lent || keep) {
    if (keep) f.header->state.fetch_sub(1, std::memory_order_relaxed);  // nobody saw it
    return;
  }
  f.header->state.store(block::held, std::memory_order_relaxed);  // likewise
}

void pool::arrived_nowhere(block& b, bool lent) noexcept {
  if (!lent) {
    b.state.store(block::free_state, std::memory_order_relaxed);  // the message had it alone
    return give_back(b);
  }
  auto state = b.state.load(std::memory_order_relaxed);  // checked by the exchange
  std::uint32_t after = 0;
  do {
    if (!is_lent(state)) return;  // another process says more than is true
    after = state == 1 ? block::free_state : state - 1;
  } while (!b.state.compare_exchange_weak(state, after, std::memory_order_acq_rel,  // (R), (A)
                                          std::memory_order_relaxed));
  if (after == block::free_state) give_back(b);
}

bool pool::lands(block& b, bool lent) noexcept {
  if (lent) return is_lent(b.state.load(std::memory_order_relaxed));  // a check, carries nothing
  std::uint32_t expected = block::flying;
  return b.state.compare_exchange_strong(expected, block::landed,
                                         std::memory_order_acquire,  // (A)
                                         std::memory_order_relaxed);
}

void pool::received(block& b, bool lent) noexcept {
  if (lent) return;
  b.state.store(block::held, std::memory_order_relaxed);  // the message had it alone
  b.holder.store(options_.process, std::memory_order_relaxed);
}

}  // namespace headway::endpoints
