#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "messages/match_index.hpp"
#include "packets/transfer/transfer.hpp"
#include "progress/completion/completion.hpp"

namespace headway::messages {

class context;

constexpr int any_source = -1;  ///< the values of the standard ABI
constexpr int any_tag = -1;

/// How a request ended. `truncated`: the message was longer than the room for it.
enum class outcome : std::uint8_t { ok, truncated, cancelled, peer_lost, failed };

struct arrival {
  int source = any_source;  ///< rank in the communicator
  int tag = any_tag;
  std::size_t bytes = 0;  ///< of the message, cut to the buffer's size
  outcome how = outcome::ok;
};

/// A send or receive under way. Embedded in what needs it; the library keeps the address until it
/// is complete, and never touches it after that.
/// Threads:  started once, then completed by any thread; `arrived` may be read after `test()`.
class request : public progress::completion, private match_hook<>, private packets::transfer {
 public:
  /// Called once by the thread that completes it, immediately before it becomes complete; may set
  /// things up (unpack), start other requests and submit ltasks, must not wait or poll.
  /// If it returns false the request does NOT become complete here: the callee took it over.
  using finisher = bool (*)(request& self) noexcept;

  finisher finish = nullptr;
  void* owner = nullptr;  ///< the callee's own
  arrival arrived;
  /// Nobody waits for it right after the start: the engine must not be quiet while it is pending.
  /// A blocking call, which waits itself, sets it to false and saves two atomic additions.
  bool background = true;

 private:
  friend class exchange;
  friend class matcher;
  friend struct exchange_parts;
  friend struct discarding_receive;
  friend class source_watch;
  template <class Entry, class Tag>
  friend class match_index;

  /// The message, or the memory for it. A send's is only read.
  void aim(context& where, std::span<const std::byte> bytes, int rank) noexcept {
    where_ = &where;
    memory = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    peer_rank_ = rank;
  }

  context* where_ = nullptr;
  std::uint64_t order_ = 0;  // of posting, in its context
  int peer_rank_ = 0;        // in the communicator, or any_source
  int tag_ = 0;
  bool posted_ = false;   // a receive that waits in the matcher; under the context's lock
  bool counted_ = false;  // the engine was told `pending_started` for it
};

}  // namespace headway::messages
