#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "processes/table.hpp"
#include "rails/driver.hpp"
#include "rails/tcp/address.hpp"
#include "rails/tcp/pending_connection.hpp"
#include "rails/tcp/rate_limited_log.hpp"
#include "rails/tcp/settings.hpp"
#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp {

/// The user data of an epoll event: a kind, and an index with a generation or a peer's number.
enum class watch_kind : std::uint8_t { bell, listener, pending, link };
[[nodiscard]] constexpr std::uint64_t watch_word(watch_kind kind, std::uint64_t which) noexcept {
  return static_cast<std::uint64_t>(kind) << 56 | which;
}
[[nodiscard]] constexpr watch_kind kind_of(std::uint64_t word) noexcept {
  return static_cast<watch_kind>(word >> 56);
}
[[nodiscard]] constexpr std::uint64_t which_of(std::uint64_t word) noexcept {
  return word & ((std::uint64_t{1} << 56) - 1);
}

/// A connection on which both sides agree. No keys: it is not encrypted.
struct made_connection {
  unique_fd fd;
  std::optional<stream_keys> keys;
  bool called = false;              ///< by this process: the other one has accepted it already
  std::uint64_t peer_received = 0;  ///< bytes of our stream, over all connections before
};

/// Receives the connections that have been made.
class connection_events {
 public:
  enum class relation : std::uint8_t { apart, together, over };
  [[nodiscard]] virtual relation relation_to(std::uint32_t peer) const noexcept = 0;
  /// Bytes of the peer's stream that have been received, over all connections. Constant while a
  /// connection is being made.
  [[nodiscard]] virtual std::uint64_t received_from(std::uint32_t peer) const noexcept = 0;
  virtual void connected(std::uint32_t peer, made_connection made) noexcept = 0;
  /// Every route to `peer` has been tried for long enough, or the peer has said that it is over.
  /// `refused`: its machine answers, but no process listens. Of a peer that was not met: no effect.
  virtual void unreachable(std::uint32_t peer, bool refused) noexcept = 0;
  /// Whether there was a connection to `peer`: `returning`, and the next one begins anew;
  /// `resuming`, and it goes on where that one ended.
  enum class past : std::uint8_t { none, returning, resuming };
  [[nodiscard]] virtual past past_with(std::uint32_t peer) const noexcept = 0;
  /// `peer`, to which a connection is up, has authenticated itself on another one.
  virtual void called_again(std::uint32_t peer, std::uint64_t now_ns) noexcept = 0;

 protected:
  ~connection_events() = default;
};

/// Makes one connection for each pair of processes that wants one: listens, calls, and drops
/// callers that do not prove the job's secret.
///
/// Both ends may call at the same time. A caller is committed once it has sent its proof: from then
/// on the other side may welcome it; before, it can hang up without loss. The process with the
/// lower name (job, then rank) decides on an authenticated caller: if its own call is committed it
/// answers `taken`, else it drops its own call and welcomes. The higher one always welcomes and
/// drops its own call: the lower one, which has sent its proof here, answers `taken` there. So at
/// most one connection is welcomed, and no frame is sent before the welcome: none can be lost or
/// overtaken. A call that was given up may arrive only after another connection has come and
/// gone: calls are numbered, and each side says in a handshake which of its own are void. No
/// connection is welcomed of which only one side encrypts: the answerer says so, and both give up.
///
/// Shape:    at most `unauthenticated_max` connections that have not proved the secret, each for at
///           most `unauthenticated_ns`; further ones wait in the kernel.
/// Threads:  the reaper; `next_deadline_ns` any.
/// Progress: never waits.
/// Errors:   what unauthenticated callers do has no effect but a line in the log (see
///           rate_limited_log).
class connection_manager {
 public:
  static constexpr std::size_t unauthenticated_max = 64;
  static constexpr std::uint64_t unauthenticated_ns = 5'000'000'000;
  static constexpr std::uint64_t silent_unauthenticated_ns = 1'000'000'000;
  static constexpr std::uint64_t call_ns = 3'000'000'000;  ///< for one route to answer

  /// Adds authenticated callers to `known`.
  connection_manager(connection_events& h, watch_set& watch, processes::table& known,
                     const credentials& own, const settings& s);

  /// Listens on every address of these interfaces.
  [[nodiscard]] base::result<std::vector<endpoint>> open(std::span<const net_interface> on);
  void close() noexcept;

  /// `routes` lead to `peer`; always the same ones.
  void call(std::uint32_t peer, std::span<const route> routes, std::uint64_t now_ns) noexcept;
  void stop_calling(std::uint32_t peer) noexcept;
  void on_pending(std::uint64_t which, std::uint64_t now_ns) noexcept;
  void on_listener(std::uint64_t which, std::uint64_t now_ns) noexcept;
  void on_time(std::uint64_t now_ns) noexcept;

  /// A connection is being made: poll the watch set often.
  [[nodiscard]] bool busy() const noexcept { return calling_.size() + unauthenticated_ > 0; }
  /// When `on_time` has something to do; UINT64_MAX: never. [any thread]
  [[nodiscard]] std::uint64_t next_deadline_ns() const noexcept {
    return deadline_ns_.load(std::memory_order_relaxed);  // a hint, checked again in `on_time`
  }

 private:
  static constexpr std::size_t no_slot = SIZE_MAX;
  struct partner {
    std::vector<route> routes;
    std::size_t next_route = 0;
    std::size_t slot = no_slot;  // of our call
    bool calling = false;        // in `calling_`
    unsigned rounds = 0;
    std::uint64_t first_failure_ns = 0;
    std::uint64_t refused_since_ns = 0;  // every call since; 0: not the last one
    std::uint64_t calls = 0;
    std::uint64_t void_calls = 0;  // of the other one: it has given up so many
    std::uint64_t again_ns = 0;
  };
  struct place {
    std::unique_ptr<pending_connection> who;
    std::uint32_t generation = 0;
  };

  /// Of a call of ours, or of an authenticated caller.
  [[nodiscard]] std::uint32_t number_of(const pending_connection& c) const noexcept {
    return static_cast<std::uint32_t>(known_->add(c.peer()));
  }
  std::size_t seat(pending_connection&& c, std::uint32_t events) noexcept;
  void dismiss(std::size_t slot) noexcept;
  void start_call_to(std::uint32_t peer, std::uint64_t now_ns) noexcept;
  [[nodiscard]] resume_point resume_point_with(std::uint32_t peer) noexcept {
    return {.received = host_->received_from(peer), .calls = partners_[peer].calls};
  }
  [[nodiscard]] std::uint64_t patience_with(std::uint32_t peer, bool refused) const noexcept;
  void call_failed(std::uint32_t peer, int error, std::uint64_t now_ns) noexcept;
  void call_again_at(std::uint32_t peer, std::uint64_t when_ns) noexcept;
  void admit(pending_connection&& c) noexcept;
  void judge(std::size_t slot, std::uint64_t now_ns) noexcept;
  void read_verdict(std::size_t slot, std::uint64_t now_ns) noexcept;
  void refuse_encryption(std::uint32_t peer, std::uint64_t now_ns) noexcept;
  void end_call(std::size_t slot, pending_connection::state how, std::uint64_t now_ns) noexcept;
  bool make_way(std::uint64_t now_ns) noexcept;
  void pause_listeners(std::uint64_t until_ns) noexcept;
  void close_listeners() noexcept;
  /// False: the kernel has no memory to watch one of them.
  [[nodiscard]] bool resume_listeners() noexcept;
  void deadline_at_most(std::uint64_t when_ns) noexcept;

  connection_events* host_;
  watch_set* watch_;
  processes::table* known_;
  const credentials* own_;
  const settings* settings_;
  std::vector<listener> listeners_;
  std::uint64_t paused_until_ns_ = 0;                    // 0: listening
  std::uint64_t lacking_since_ns_ = 0;                   // callers wait that cannot be accepted
  std::unordered_map<std::uint32_t, partner> partners_;  // processes called, or that have called
  std::vector<std::uint32_t> calling_;
  std::vector<place> places_;
  std::size_t unauthenticated_ = 0;
  rate_limited_log rejections_;
  std::atomic<std::uint64_t> deadline_ns_{UINT64_MAX};
};

}  // namespace headway::rails::tcp
