#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/intrusive_list.hpp"
#include "base/result.hpp"
#include "packets/outgoing.hpp"
#include "progress/completion.hpp"

namespace headway::packets {
class peer;
}

namespace headway::messages {

class context;

constexpr int any_source = -1;  ///< the values of the standard ABI
constexpr int any_tag = -1;

/// How it ended. `failure` empty and `truncated` false: well.
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
class request : public progress::completion, public base::list_hook<>, private packets::outgoing {
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
  template <class T, class Tag>
  friend class base::intrusive_list;

  enum class stage : std::uint8_t {
    fresh,     // not started, or complete
    sending,   // its packet, or the piece that was asked for, is on its way
    offered,   // a request to send is out; in the table of sends
    posted,    // a receive that waits in the matcher; under the context's lock
    awaiting,  // matched, but no landing zone is free yet; in the list of those
    landing,   // matched, bytes are landing; in the table of landings
  };

  /// `memory`: the message, or the room for it. A send's is only read.
  void aim(context& where, std::span<const std::byte> memory, int rank) noexcept {
    where_ = &where;
    data_ = const_cast<std::byte*>(memory.data());
    bytes_ = memory.size();
    peer_rank_ = rank;
  }

  context* where_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;    // of the message or of the room for it
  std::uint64_t order_ = 0;  // of posting, in its context
  int peer_rank_ = 0;        // in the communicator, or any_source
  int tag_ = 0;
  stage stage_ = stage::fresh;
  bool counted_ = false;       // the engine was told `pending_started` for it
  std::uint32_t id_ = 0;       // in the table of sends or landings
  std::uint32_t send_id_ = 0;  // the sender's number of the message that lands here
  packets::peer* from_ = nullptr;
  std::uint64_t landing_left_ = 0;  // bytes; the reaper's
};

}  // namespace headway::messages
