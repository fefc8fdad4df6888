#pragma once

#include <cstddef>
#include <cstdint>

#include "base/intrusive_list.hpp"
#include "base/result.hpp"
#include "progress/completion.hpp"

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
struct request : progress::completion, base::list_hook<> {
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
  friend class context;
  friend class exchange;
  // What the matcher needs while the request is under way; see messages/exchange.cpp.
  context* where_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t order_ = 0;
  int peer_rank_ = 0;
  int tag_ = 0;
  std::uint32_t wire_id_ = 0;
  std::uint8_t state_ = 0;
  bool counted_ = false;  // the engine was told `pending_started` for it
};

}  // namespace headway::messages
