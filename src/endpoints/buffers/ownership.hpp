#pragma once

#include <cstdint>

#include "endpoints/buffers/block.hpp"

namespace headway::endpoints {

/// What is wrong with a buffer that the program names. `none`: nothing.
enum class wrong : std::uint8_t {
  none,
  not_a_buffer,  ///< no buffer of this library begins there
  other_job,
  released,   ///< it is in the pool: released twice, or used after release
  in_flight,  ///< it was sent away: its receiver will release it
  in_use,     ///< a send still uses it
  damaged,    ///< the header in front of it was overwritten
  written,    ///< it was written while it was in flight, or after its release
};
[[nodiscard]] const char* text_of(wrong what) noexcept;

/// Ownership of a buffer: the transitions of `block::state`. `lent` says that the caller's hold is
/// one of a receiver of a buffer that its sender kept.
/// Threads:  any.
/// Errors:   a transition that the state does not allow is refused, and nothing changes then.
namespace ownership {

/// The program holds it alone: a snapshot, which other threads may outdate.
[[nodiscard]] inline bool at_rest(const block& b) noexcept {
  return b.state.load(std::memory_order_relaxed) == block::held;
}

/// Why a holder cannot do what it asks for, in this state of a buffer that it calls its own.
[[nodiscard, gnu::noinline]] wrong trouble_in(std::uint32_t state) noexcept;

/// The only holder gives it up. `none`: it is free, and the caller puts it back into its pool.
[[nodiscard]] inline wrong release(block& b) noexcept {
  std::uint32_t expected = block::held;
  if (b.state.compare_exchange_strong(expected, block::free_state,
                                      std::memory_order_acq_rel,  // (R), (A)
                                      std::memory_order_relaxed)) [[likely]]
    return wrong::none;
  return trouble_in(expected);
}
/// The same where messages may still use it; `freed`: none does, and the caller puts it back.
[[nodiscard]] wrong release_later(block& b, bool& freed) noexcept;
/// Ends the hold of a receiver of a kept buffer; `freed` as above.
[[nodiscard]] wrong release_lent(block& b, bool& freed) noexcept;
/// `idle`: no send uses it any more.
[[nodiscard]] wrong probe(const block& b, bool lent, bool& idle) noexcept;

/// A message takes it along (`keep` false) or shares it.
[[nodiscard]] wrong send(block& b, bool lent, bool keep) noexcept;
/// Takes `send` back: the message was not accepted.
void unsend(block& b, bool lent, bool keep) noexcept;
/// After `send`: the message goes to another process, which may die while it has the buffer.
void note_destination(block& b, bool lent, std::uint32_t process) noexcept;
/// A message from another process names this buffer; that process is not trusted. True, once per
/// `send`: the buffer is under way.
[[nodiscard]] bool land(block& b, bool lent) noexcept;
/// The program of `process` has received it.
inline void receive(block& b, bool lent, std::uint32_t process) noexcept {
  if (lent) return;
  b.state.store(block::held, std::memory_order_relaxed);  // the message had it alone
  b.holder.store(process, std::memory_order_relaxed);     // see block.hpp
}
/// The message that had it alone ends without a receiver, or a copy was taken. It is free now.
inline bool end_whole(block& b) noexcept {
  b.state.store(block::free_state, std::memory_order_relaxed);  // the message had it alone
  return true;
}
/// The same of a share that a message or a receiver had. True: it is free now.
[[nodiscard]] bool end_share(block& b) noexcept;

/// `process` is dead: what it held of a buffer of `self` is taken back. True: it is free now.
[[nodiscard]] bool reclaim(block& b, std::uint32_t process, std::uint32_t self) noexcept;

}  // namespace ownership
}  // namespace headway::endpoints
