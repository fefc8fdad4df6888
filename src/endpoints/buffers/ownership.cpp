#include "endpoints/buffers/ownership.hpp"

namespace headway::endpoints {

const char* text_of(wrong what) noexcept {
  switch (what) {
    case wrong::none:
      return "nothing is wrong";
    case wrong::not_a_buffer:
      return "no buffer of this library begins there";
    case wrong::other_job:
      return "the buffer belongs to another job";
    case wrong::released:
      return "the buffer was released already";
    case wrong::in_flight:
      return "the buffer was sent away, and is its receiver's to release";
    case wrong::in_use:
      return "a send still uses the buffer";
    case wrong::damaged:
      return "the header in front of the buffer was overwritten";
    case wrong::written:
      return "the buffer was written while it was in flight";
  }
  return "unknown";
}

namespace ownership {
namespace {

/// A receiver holds a share of a buffer in this state.
bool is_lent(std::uint32_t state) noexcept {
  constexpr auto others = block::held | block::free_state | block::flying | block::landed;
  return (state & ~others) != 0 && (state & (others & ~block::held)) == 0;
}

}  // namespace

wrong trouble_in(std::uint32_t state) noexcept {
  if (state == block::free_state) return wrong::released;
  if (state == block::flying || state == block::landed) return wrong::in_flight;
  // With `held`, messages use it; without, the program has released it.
  return (state & block::held) != 0 ? wrong::in_use : wrong::released;
}

wrong release_lent(block& b, bool& freed) noexcept {
  if (!is_lent(b.state.load(std::memory_order_relaxed))) return wrong::released;  // a check
  freed = end_share(b);
  return wrong::none;
}

wrong release_later(block& b, bool& freed) noexcept {
  auto state = b.state.load(std::memory_order_relaxed);  // checked by the exchange
  std::uint32_t after = 0;
  do {
    if ((state & block::held) == 0) return trouble_in(state);
    after = state == block::held ? block::free_state : state & ~block::held;
  } while (!b.state.compare_exchange_weak(state, after, std::memory_order_acq_rel,  // (R), (A)
                                          std::memory_order_relaxed));
  freed = after == block::free_state;
  return wrong::none;
}

wrong probe(const block& b, bool lent, bool& idle) noexcept {
  const auto state = b.state.load(std::memory_order_acquire);  // (A)
  idle = lent ? state == 1 : state == block::held;
  return lent || (state & block::held) != 0 ? wrong::none : trouble_in(state);
}

wrong send(block& b, bool lent, bool keep) noexcept {
  auto before = b.state.load(std::memory_order_relaxed);  // checked by the exchange
  if (lent) {
    if (!is_lent(before)) return wrong::released;
    // The share goes with the message; another one if the sender keeps its own.
    if (keep) b.state.fetch_add(1, std::memory_order_release);  // (R)
    return wrong::none;
  }
  if (keep) {
    do {
      if ((before & block::held) == 0) return trouble_in(before);
    } while (!b.state.compare_exchange_weak(before, before + 1, std::memory_order_release,  // (R)
                                            std::memory_order_relaxed));
    return wrong::none;
  }
  std::uint32_t expected = block::held;
  if (!b.state.compare_exchange_strong(expected, block::flying, std::memory_order_release,  // (R)
                                       std::memory_order_relaxed))
    return trouble_in(expected);
  return wrong::none;
}

void unsend(block& b, bool lent, bool keep) noexcept {
  if (keep) b.state.fetch_sub(1, std::memory_order_relaxed);  // no other thread has seen it
  // no other thread has seen it
  else if (!lent) b.state.store(block::held, std::memory_order_relaxed);
}

void note_destination(block& b, bool lent, std::uint32_t process) noexcept {
  if (!lent) return b.holder.store(process, std::memory_order_relaxed);  // see block.hpp
  const auto before = b.lent_to.load(std::memory_order_relaxed);
  const bool only = before == block::nobody || before == process ||
                    b.state.load(std::memory_order_relaxed) == (block::held | 1u);  // a hint
  b.lent_to.store(only ? process : block::several, std::memory_order_relaxed);
}

bool land(block& b, bool lent) noexcept {
  if (lent) return is_lent(b.state.load(std::memory_order_relaxed));  // a check, carries nothing
  std::uint32_t expected = block::flying;
  return b.state.compare_exchange_strong(expected, block::landed,
                                         std::memory_order_acquire,  // (A)
                                         std::memory_order_relaxed);
}

bool end_share(block& b) noexcept {
  auto state = b.state.load(std::memory_order_relaxed);  // checked by the exchange
  std::uint32_t after = 0;
  do {
    if (!is_lent(state)) return false;  // another process returns more shares than it has
    after = state == 1 ? block::free_state : state - 1;
  } while (!b.state.compare_exchange_weak(state, after, std::memory_order_acq_rel,  // (R), (A)
                                          std::memory_order_relaxed));
  return after == block::free_state;
}

bool reclaim(block& b, std::uint32_t process, std::uint32_t self) noexcept {
  auto state = b.state.load(std::memory_order_acquire);  // (A)
  if (state == block::free_state) return false;
  const bool has_it = b.holder.load(std::memory_order_relaxed) == process;     // see block.hpp
  const bool borrowed = b.lent_to.load(std::memory_order_relaxed) == process;  // see block.hpp
  if (!has_it && !borrowed) return false;
  if (state == block::flying || state == block::landed) state = block::held;
  if (has_it) state &= ~block::held;
  if (borrowed) state &= block::held;
  b.holder.store(self, std::memory_order_relaxed);            // see block.hpp
  b.lent_to.store(block::nobody, std::memory_order_relaxed);  // see block.hpp
  // that process is dead
  b.state.store(state == 0 ? block::free_state : state, std::memory_order_relaxed);
  return state == 0;
}

}  // namespace ownership
}  // namespace headway::endpoints
