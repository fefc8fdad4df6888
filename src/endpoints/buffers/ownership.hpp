#pragma once

#include <cstdint>

#include "endpoints/buffers/block.hpp"

namespace headway::endpoints {

/// What is wrong with a buffer that the program passes. `none`: nothing.
enum class wrong : std::uint8_t {
  none,
  not_a_buffer,  ///< not a buffer of this library
  other_job,
  released,   ///< it is in the pool: released twice, or used after release
  in_flight,  ///< it was sent: its receiver releases it
  in_use,     ///< a send still uses it
  damaged,    ///< the header in front of it was overwritten
  written,    ///< it was written while it was in flight, or after its release
};
[[nodiscard]] const char* text_of(wrong what) noexcept;

/// The transitions of `block::state`. `lent`: the caller is one of the receivers of a buffer that
/// its sender kept.
/// Threads:  any.
/// Errors:   a transition that the state does not allow is refused, without effect.
namespace ownership {

/// Whether the program alone holds it: a snapshot, which other threads may outdate.
[[nodiscard]] inline bool at_rest(const block& b) noexcept {
  return b.state.load(std::memory_order_relaxed) == block::held;
}

/// Why a holder's request is refused in this state.
[[nodiscard, gnu::noinline]] wrong trouble_in(std::uint32_t state) noexcept;

/// The only holder releases it. `none`: it is free, and the caller puts it back into its pool.
[[nodiscard]] inline wrong release(block& b) noexcept {
  std::uint32_t expected = block::held;
  if (b.state.compare_exchange_strong(expected, block::free_state,
                                      std::memory_order_acq_rel,  // (R), (A)
                                      std::memory_order_relaxed)) [[likely]]
    return wrong::none;
  return trouble_in(expected);
}
/// The same if messages may still use it; `freed`: none does, and the caller puts it back.
[[nodiscard]] wrong release_later(block& b, bool& freed) noexcept;
/// Ends the hold of a receiver of a kept buffer; `freed` as above.
[[nodiscard]] wrong release_lent(block& b, bool& freed) noexcept;
/// `idle`: no send uses it any more.
[[nodiscard]] wrong probe(const block& b, bool lent, bool& idle) noexcept;

/// A message takes the buffer (`keep` false) or shares it.
[[nodiscard]] wrong send(block& b, bool lent, bool keep) noexcept;
/// Undoes `send`: the message was not accepted.
void unsend(block& b, bool lent, bool keep) noexcept;
/// After `send`: the message goes to another process, which may die while it has the buffer.
void note_destination(block& b, bool lent, std::uint32_t process) noexcept;
/// A message from another, untrusted process names this buffer. True, once per `send`: the buffer
/// is under way.
[[nodiscard]] bool land(block& b, bool lent) noexcept;
/// The program of `process` has received it.
inline void receive(block& b, bool lent, std::uint32_t process) noexcept {
  if (lent) return;
  b.state.store(block::held, std::memory_order_relaxed);  // only the message had it
  b.holder.store(process, std::memory_order_relaxed);     // see block.hpp
}
/// The message that was its only user ends without a receiver, or was copied. The buffer is free.
inline bool end_whole(block& b) noexcept {
  b.state.store(block::free_state, std::memory_order_relaxed);  // only the message had it
  return true;
}
/// The same for a share of a message or a receiver. True: it is free now.
[[nodiscard]] bool end_share(block& b) noexcept;

/// `process` is dead: ends its use of a buffer of `self`. True: it is free now.
[[nodiscard]] bool reclaim(block& b, std::uint32_t process, std::uint32_t self) noexcept;

}  // namespace ownership
}  // namespace headway::endpoints
