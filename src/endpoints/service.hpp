#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "endpoints/block.hpp"
#include "endpoints/inbox.hpp"
#include "endpoints/outcome.hpp"
#include "endpoints/pool.hpp"
#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "progress/engine.hpp"

namespace headway::endpoints {

struct service_parts;
struct watch_list;

/// What a service must know of the job.
struct service_options {
  std::uint32_t process = 0;    ///< own rank
  std::uint64_t job = 0;        ///< tells jobs of one machine apart
  std::vector<int> nodes = {};  ///< of each process: equal numbers share memory
  bool share = true;            ///< hand buffers to processes of the same node in place
  bool pack_always = false;     ///< small messages, as if each followed others closely: for tests
};

/// A message as its receiver has it. `data` is a buffer that it releases.
struct message {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::int32_t tag = 0;
  address from;
};

/// What to send, and how.
struct sending {
  address to;
  std::int32_t tag = 0;
  std::uint32_t from = 0;  ///< id of an own end-point, or 0
  void* data = nullptr;    ///< a buffer; nullptr: an empty message
  std::size_t bytes = 0;
  bool keep = false;  ///< the buffer stays the sender's, who may probe and release it
};

/// The program's own function, and who knows how to call it.
struct handler {
  void (*call)(const handler& self, const message& what) = nullptr;
  void (*target)() = nullptr;
  void* argument = nullptr;
};

inline constexpr std::uint64_t no_wait = 0;
inline constexpr std::uint64_t for_ever = UINT64_MAX;

/// End-points of this process, and the way to those of all others. One per process.
///
/// Threads:  every function any thread, unless it says otherwise.
/// Progress: those with a deadline (base::now_ns; `no_wait`; `for_ever`) wait at the engine, so
///           that a waiting thread polls; the others do not wait.
/// Errors:   `outcome`; of a buffer, `last_wrong` says which mistake it was.
/// Source:   pcor02 (PAPERS.md mechanisms 18-22).
class service {
 public:
  /// Before `peers` are started. The pool is made at the first use.
  service(packets::peers& peers, progress::engine& engine, service_options options);
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  /// After the peers are started: large messages go by `exchange` from now on.
  void attach(messages::exchange& exchange);
  /// Closes every end-point, tells the others, and waits some seconds until all is sent.
  void stop() noexcept;

  [[nodiscard]] outcome open(std::string_view name, std::uint64_t deadline_ns, std::uint32_t& id);
  outcome close(std::uint32_t id) noexcept;
  [[nodiscard]] outcome lookup(std::string_view name, std::uint64_t deadline_ns, address& who);

  [[nodiscard]] outcome send(const sending& what, std::uint64_t deadline_ns) noexcept {
    const auto how = send_at_once(what.to, what.tag, what.from, what.data, what.bytes, what.keep);
    return how != outcome::again ? how : send_otherwise(what, deadline_ns);
  }
  [[nodiscard, gnu::hot]] outcome receive(std::uint32_t id, const filter& wanted,
                                          std::uint64_t deadline_ns, message& out) noexcept;
  /// Waits until one of them has a message, and says which.
  [[nodiscard]] outcome wait_any(std::span<const std::uint32_t> ids, std::uint64_t deadline_ns,
                                 std::size_t& which);
  /// Readable (poll, epoll) while a message waits. Belongs to the end-point.
  [[nodiscard]] outcome descriptor(std::uint32_t id, int& descriptor) noexcept;
  /// From now on `by` gets the messages of this end-point, one at a time, in a thread that
  /// dispatches; without `call`: no more.
  [[nodiscard]] outcome handle(std::uint32_t id, const handler& by);
  /// `rounds` looks at the rails, and the handlers that they make ready. Messages handled.
  std::size_t dispatch(unsigned rounds) noexcept;
  /// What HEADWAY_DISPATCH chooses, by its position there.
  void set_dispatch(int policy);

  [[nodiscard]] outcome request(std::size_t bytes, void** data) noexcept;
  [[nodiscard]] outcome capacity(const void* data, std::size_t& bytes) noexcept;
  [[nodiscard]] outcome release(void* data) noexcept;
  [[nodiscard]] outcome release_later(void* data) noexcept;
  [[nodiscard]] outcome probe(const void* data, bool& idle) noexcept;
  /// Of this thread's last `misuse`.
  [[nodiscard]] static wrong last_wrong() noexcept;

  [[nodiscard]] std::uint32_t process() const noexcept;
  [[nodiscard]] std::uint32_t process_count() const noexcept;
  [[nodiscard]] std::size_t bytes_taken() noexcept;
  [[nodiscard]] std::size_t open_count() noexcept;

 private:
  /// A small message that the rail copies at once, in registers all the way. `again`: it is none,
  /// or something is unusual; nothing was done.
  [[nodiscard, gnu::hot]] outcome send_at_once(address to, std::int32_t tag, std::uint32_t from,
                                               const void* data, std::size_t bytes,
                                               bool keep) noexcept;
  [[nodiscard]] outcome send_otherwise(const sending& what, std::uint64_t deadline_ns) noexcept;
  std::unique_ptr<service_parts> parts_;
};

}  // namespace headway::endpoints
