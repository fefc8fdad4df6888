#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "base/result.hpp"
#include "messages/match_index.hpp"
#include "packets/peer.hpp"
#include "packets/transfer/scattered_memory.hpp"
#include "packets/transfer/transfer.hpp"
#include "progress/completion/completion.hpp"

namespace headway::messages {

class context;

constexpr int any_source = -1;  ///< the values of the standard ABI
constexpr int any_tag = -1;

/// The data of a message that is not one block of memory.
using scattered_memory = packets::scattered_memory;

/// How a request ended. `truncated`: the message was longer than the receiver's memory.
enum class outcome : std::uint8_t { ok, truncated, cancelled, peer_lost, failed };

/// What a request has received or sent.
struct arrival {
  int source = any_source;  ///< rank in the communicator
  int tag = any_tag;
  std::size_t bytes = 0;  ///< length of the message, at most the memory's
  outcome how = outcome::ok;
};

/// What is noted of a message for those who record calls; see `request::times`.
struct request_times {
  /// When the rts of a message that is received was kept, because no receive was posted. 0: one
  /// was, or the message had no rts.
  std::uint64_t announced_ns;
  std::uint64_t matched_ns;  ///< when the rts met its receive; 0: the message had none
  std::uint32_t number;      ///< the sender's number of a message that has an rts; else 0
};

/// A send or receive under way, in memory of the caller, which must not move or free it before it
/// is complete.
/// Threads:  started by one thread, completed by any; `arrived` may be read after `test()`.
class request : public progress::completion, private match_hook<>, private packets::transfer {
 public:
  /// Called once by the completing thread, immediately before the request becomes complete. May
  /// unpack data, start requests and submit ltasks; must not wait or poll. If it returns false, the
  /// request does not become complete: the callee has taken it over, and may have freed it.
  using finisher = bool (*)(request& self) noexcept;

  finisher finish = nullptr;
  void* owner = nullptr;  ///< for the use of `finish`
  arrival arrived;
  /// The program may compute while the request is pending, so that background threads must progress
  /// it. A blocking call, whose thread waits and polls, sets it to false and saves two atomic
  /// additions.
  bool background = true;
  /// The owner calls `reclaim` after the end of a send, before it changes what was sent. Saves a
  /// copy of what a connection may have to send again.
  bool reclaims = false;
  /// Is filled in until the request is complete; null: nothing is noted.
  request_times* times = nullptr;

  /// See `reclaims`. By one thread, once it is complete. Without effect if nothing is lent.
  void reclaim() noexcept {
    if (std::exchange(lends, false)) with->reclaim();
  }
  /// After a use with scattered memory, before one with a block.
  void forget_scattered() noexcept { scattered = nullptr; }

 private:
  friend class context;
  friend class exchange;
  friend class matcher;
  friend struct exchange_parts;
  friend class failing_operations;
  friend struct discarding_receive;
  friend struct notice;
  friend class source_watch;
  template <class Entry, class Tag>
  friend class match_index;

  /// Sets context, memory and rank. The memory of a send is only read.
  void aim(context& where, std::span<const std::byte> bytes, int rank) noexcept {
    HEADWAY_DEBUG_ASSERT(!posted_ && !counted_);  // it is not under way
    where_ = &where;
    memory = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    peer_rank_ = rank;
    lends = false;
  }
  /// The bytes of the message that is sent, or the longest that the receive has memory for.
  [[nodiscard]] std::size_t room() const noexcept {
    return scattered ? scattered->bytes() : memory.size();
  }

  context* where_ = nullptr;
  std::uint64_t order_ = 0;  // position among the receives posted in its context
  int peer_rank_ = 0;        // in the communicator, or any_source
  int tag_ = 0;
  std::uint16_t history_ = 0;  // see `label`
  bool posted_ = false;        // a receive in the matcher; under the context's lock
  // Counted by engine.pending_started; while it is posted, together with others of its context.
  bool counted_ = false;
};

}  // namespace headway::messages
