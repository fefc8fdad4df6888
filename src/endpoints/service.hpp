#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "endpoints/buffers/ownership.hpp"
#include "endpoints/delivery/message.hpp"
#include "endpoints/delivery/outcome.hpp"
#include "endpoints/names/names.hpp"
#include "endpoints/settings.hpp"
#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "progress/core/engine.hpp"

namespace headway::endpoints {

/// The facts about the job that a service needs.
struct service_options {
  std::uint32_t process = 0;    ///< own rank
  std::uint64_t job = 0;        ///< identifies jobs of one machine
  std::vector<int> nodes = {};  ///< of each process of the job: equal numbers share memory
  bool share = true;            ///< buffers can be handed to processes of the same node in place
};

/// The end-points of this process, and messages from them to those of all processes.
///
/// Threads:  every function any thread, unless stated otherwise.
/// Progress: functions with a deadline (on the engine's clock; `no_wait`; `for_ever`) wait at the
///           engine, so that a waiting thread polls; the others do not wait.
/// Errors:   `outcome`; for misuse of a buffer, `last_wrong` is the kind.
/// Source:   pcor02 (docs/papers.md, mechanisms 18 to 22).
class service {
 public:
  /// Before `peers` are started. The memory for buffers is made on first use.
  service(packets::peers& peers, progress::engine& engine, service_options options,
          const settings& chosen);
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  /// After the peers are started: from now on large messages go by `exchange`.
  void attach(messages::exchange& exchange);
  /// Closes every end-point, informs the other processes, and waits some seconds until all is sent.
  void stop() noexcept;

  [[nodiscard]] outcome open(std::string_view name, std::uint64_t deadline_ns, std::uint32_t& id);
  outcome close(std::uint32_t id) noexcept;
  [[nodiscard]] outcome lookup(std::string_view name, std::uint64_t deadline_ns, address& who);
  /// The same without a wait: `q` completes when the name is registered, or belongs to another
  /// end-point; in that case the caller closes the end-point.
  [[nodiscard]] outcome start_open(std::string_view name, question& q, std::uint32_t& id);
  /// Waits until an end-point has the name.
  [[nodiscard]] outcome start_lookup(std::string_view name, question& q);
  /// False: `q` is complete, or will be at once.
  [[nodiscard]] bool cancel(question& q);

  [[nodiscard]] outcome send(const sending& what, std::uint64_t deadline_ns) noexcept {
    const auto how = send_at_once(what.to, what.tag, what.from, what.data, what.bytes, what.keep);
    return how != outcome::again ? how : send_any(what, deadline_ns);
  }
  [[nodiscard, gnu::hot]] outcome receive(std::uint32_t id, const filter& wanted,
                                          std::uint64_t deadline_ns, message& out) noexcept;
  /// Waits until one of them has a message; returns which.
  [[nodiscard]] outcome wait_any(std::span<const std::uint32_t> ids, std::uint64_t deadline_ns,
                                 std::size_t& which);
  /// Readable (poll, epoll) while a message waits. Owned by the end-point.
  [[nodiscard]] outcome descriptor(std::uint32_t id, int& descriptor) noexcept;
  /// From now on `by` is called for the messages of this end-point, one at a time, in a thread that
  /// dispatches; without `call`: no longer.
  [[nodiscard]] outcome handle(std::uint32_t id, const handler& by);
  /// Polls the rails `rounds` times, and runs the handlers that become ready. Returns the number of
  /// messages handled.
  std::size_t dispatch(unsigned rounds) noexcept;
  /// The choices of HEADWAY_DISPATCH, by position.
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
  struct parts;
  /// See sender.
  [[nodiscard, gnu::hot]] outcome send_at_once(address to, std::int32_t tag, std::uint32_t from,
                                               const void* data, std::size_t bytes,
                                               bool keep) noexcept;
  [[nodiscard]] outcome send_any(const sending& what, std::uint64_t deadline_ns) noexcept;
  std::unique_ptr<parts> parts_;
};

}  // namespace headway::endpoints
