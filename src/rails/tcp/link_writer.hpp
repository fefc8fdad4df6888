#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "rails/memory.hpp"
#include "rails/tcp/link.hpp"
#include "rails/tcp/memory_tables.hpp"
#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp {

/// Writes to one connection: gives frames to the kernel, and queues what it does not take. On an
/// encrypted connection all frames go through the queue, from there into records, and these to the
/// kernel.
/// Threads:  every function requires the link's lock.
/// Progress: never waits. One call gives the kernel what one `sendmsg` takes; or, encrypted, hardly
///           more than `encrypted_bytes_max`.
class link_writer {
 public:
  static constexpr std::size_t inline_bytes_max = 8 * 1024;
  static constexpr std::size_t encrypted_bytes_max = 128 * 1024;
  /// Packets that the kernel does not take and that are not copied: more wait in the scheduler,
  /// where urgent ones pass them.
  static constexpr std::size_t posted_bytes_max = 1024 * 1024;
  using cookies = std::array<std::uint64_t, output::vectors_max>;

  explicit link_writer(watch_set& watch) noexcept : watch_(&watch) {}

  [[nodiscard]] post send(link& l, std::uint32_t peer, const packet& p) noexcept
      HEADWAY_REQUIRES(l.lock);
  [[nodiscard]] post put(link& l, std::uint32_t peer, const remote_place& to,
                         const output::payload& from) noexcept HEADWAY_REQUIRES(l.lock);
  /// Sends a request for the peer's memory. False: no room now.
  [[nodiscard]] bool request(link& l, std::uint32_t peer, const remote_place& at,
                             const memory_request& what) noexcept HEADWAY_REQUIRES(l.lock);
  /// Queues answers to the peer's requests, as far as there is room.
  void answer(link& l, std::uint32_t peer, memory_tables& memory,
              std::deque<asked_request>& asked) noexcept HEADWAY_REQUIRES(l.lock);
  /// Queues a receipt for so many bytes. False: no room now, or no connection.
  [[nodiscard]] bool send_receipt(link& l, std::uint64_t received) noexcept
      HEADWAY_REQUIRES(l.lock);
  /// Gives the kernel what one call takes. Returns how many payloads may be reused now, also if it
  /// fails.
  std::size_t write_some(link& l, cookies& done, bool& blocked) noexcept HEADWAY_REQUIRES(l.lock);
  /// Nothing more can be written to this connection, because of this errno. What has arrived may
  /// still be read; then the reaper meets its end.
  void fail(link& l, int error) noexcept HEADWAY_REQUIRES(l.lock);
  /// Whether the watch set reports when the connection has room.
  void watch_output(link& l, std::uint32_t peer, bool on) noexcept HEADWAY_REQUIRES(l.lock);
  /// The same, for a connection that is being added or closed.
  void set_watching(link& l, bool on) noexcept HEADWAY_REQUIRES(l.lock);
  /// To be called when the queue of a connection has changed from empty or to it.
  void note_queue(link& l) noexcept HEADWAY_REQUIRES(l.lock) {
    if (l.queued == l.unwritten()) return;
    l.queued = !l.queued;
    queued_.fetch_add(l.queued ? 1 : -1, std::memory_order_relaxed);
  }
  /// Whether the queue of some connection, made or not, holds anything. Relaxed: a thread that has
  /// sent sees its own packet.
  [[nodiscard]] bool any_queued() const noexcept {
    return queued_.load(std::memory_order_relaxed) > 0;
  }
  /// Whether some connection is watched until its queue has been sent: a hint.
  [[nodiscard]] bool watches_any() const noexcept {
    return watching_.load(std::memory_order_relaxed) > 0;
  }

 private:
  static constexpr std::size_t answers_queued_max = 8;
  static constexpr std::size_t answer_bytes_max = 256 * 1024;

  [[nodiscard]] post queue(link& l, std::uint32_t peer, const packet& p, std::size_t sent) noexcept
      HEADWAY_REQUIRES(l.lock);
  void write_if_first(link& l, std::uint32_t peer, bool first, std::size_t& done) noexcept
      HEADWAY_REQUIRES(l.lock);
  /// `write_some` of an encrypted connection: a few records at a time, so that the peer decrypts
  /// some while the next are being encrypted, and fewer towards the end.
  [[nodiscard]] std::size_t write_records(link& l, cookies& done, bool& blocked) noexcept
      HEADWAY_REQUIRES(l.lock);
  /// What to write next: first what a former connection may have lost.
  [[nodiscard]] static std::size_t gather(link& l,
                                          std::span<iovec, output::vectors_max> vectors) noexcept
      HEADWAY_REQUIRES(l.lock);
  /// So many bytes of it are written. Returns how many payloads may be reused.
  static std::size_t advance(link& l, std::size_t bytes, cookies& done) noexcept
      HEADWAY_REQUIRES(l.lock);
  /// Answers part of a request. False: no room.
  [[nodiscard]] bool answer_part(link& l, peer_id peer, memory_tables& memory,
                                 asked_request& r) noexcept HEADWAY_REQUIRES(l.lock);

  watch_set* watch_;
  std::atomic<int> watching_{0};  // relaxed: a hint
  std::atomic<int> queued_{0};    // connections with something in their queue
};

/// Says that the connection to this peer ends, unless its other end has closed or reset it, which
/// is reported by what depends on it.
void say_lost(std::uint32_t peer, int error) noexcept;

}  // namespace headway::rails::tcp
