#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/spinlock.hpp"
#include "rails/driver.hpp"
#include "rails/landing_zones.hpp"
#include "rails/last_events.hpp"
#include "rails/tcp/handshake.hpp"
#include "rails/tcp/input.hpp"
#include "rails/tcp/link.hpp"
#include "rails/tcp/meeting.hpp"
#include "rails/tcp/socket.hpp"
#include "rails/tcp/tunables.hpp"

namespace headway::rails::tcp {

struct config {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::array<std::byte, 32> secret{};
  std::string job_id;
  std::vector<net_interface> interfaces;       ///< as `select_rails` gives them; at least one
  std::optional<settings> how = std::nullopt;  ///< for tests; else from the environment
  int number = 1;                              ///< of several rails on the same interface
};

/// Carries messages over TCP: one connection for each pair of processes, made on first use, and
/// again when it was lost and both ends `revive` it.
///
/// Shape:    one socket to listen for each address of the chosen interfaces, one socket for each
///           peer that was spoken to, one epoll set.
/// Threads:  as the contract says. What the sender and the reaper share is in `link`.
/// Progress: every socket is non-blocking. One `reap` moves at most `budget_bytes` for each
///           connection and looks at no more than `watch_events_max` of them, so that work
///           under the caller's mask stays short. While few connections are busy it reads their
///           sockets without asking epoll first, and while a large payload comes in it waits some
///           microseconds for what follows.
/// Errors:   a reset or an end without good-bye is a loss. Strangers change nothing (see meeting).
/// Source:   the floor of overlap and the value of few large calls: shared/design/FIELD.md,
///           section 6.
class tcp_driver final : public driver, private host {
 public:
  static constexpr std::size_t inline_bytes_max = 8 * 1024;
  static constexpr std::size_t budget_bytes = 2 * 1024 * 1024;
  static constexpr int watch_events_max = 32;

  explicit tcp_driver(config c);
  ~tcp_driver() override { close(); }
  tcp_driver(const tcp_driver&) = delete;
  tcp_driver& operator=(const tcp_driver&) = delete;

  [[nodiscard]] limits query() const noexcept override;
  [[nodiscard]] base::result<std::vector<std::byte>> open() override;
  [[nodiscard]] base::result<> connect(peer_id peer, std::span<const std::byte> bytes) override;
  [[nodiscard]] post send(peer_id peer, const packet& what) noexcept override;
  [[nodiscard]] bool land(peer_id peer, landing_id id,
                          std::span<std::byte> target) noexcept override;
  void unland(landing_id id) noexcept override { zones_.close(id); }
  [[nodiscard]] std::size_t reap(std::span<event> out) noexcept override;
  void release(const event& received) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return watch_.fd(); }
  [[nodiscard]] bool arm(bool sleeping) noexcept override;
  void tick(std::uint64_t now_ns) noexcept override;
  void sever(peer_id peer) noexcept override;
  void revive(peer_id peer) noexcept override;
  [[nodiscard]] std::uint64_t heard_ns(peer_id peer) noexcept override;
  void close() noexcept override;

 private:
  static constexpr std::size_t hot_max = 4;
  static constexpr unsigned rounds_between_looks = 16;
  using cookies = std::array<std::uint64_t, output::vectors_max>;

  // host: what the meeting tells.
  [[nodiscard]] relation relation_to(std::uint32_t peer) const noexcept override;
  void connected(std::uint32_t peer, unique_fd fd) noexcept override;
  void unreachable(std::uint32_t peer, bool refused) noexcept override;
  [[nodiscard]] bool returning(std::uint32_t peer) const noexcept override;
  void called_again(std::uint32_t peer, std::uint64_t now_ns) noexcept override;

  // Sending; the link is locked.
  [[nodiscard]] post send_plain(link& l, std::uint32_t peer, const packet& p) noexcept;
  [[nodiscard]] post send_piece(link& l, std::uint32_t peer, const packet& p) noexcept;
  [[nodiscard]] post queue_plain(link& l, std::uint32_t peer, const packet& p,
                                 std::size_t sent) noexcept;
  void write_failed(link& l) noexcept;
  void watch_output(link& l, std::uint32_t peer, bool on) noexcept;
  std::size_t write_some(link& l, cookies& done, bool& blocked) noexcept;
  void ask_reaper(std::uint32_t peer) noexcept;
  void ring_if_asleep() noexcept;

  // Reaping.
  void look_after_requests(std::uint64_t now_ns) noexcept;
  void look_at_watch_set(event_sink& out) noexcept;
  void on_link(std::uint32_t peer, std::uint32_t events, event_sink& out) noexcept;
  void read_link(std::uint32_t peer, event_sink& out) noexcept;
  void read_ready(event_sink& out) noexcept;
  void read_hot(event_sink& out) noexcept;
  void write_link(std::uint32_t peer) noexcept;
  void linger(event_sink& out) noexcept;
  void lower_low_water(link& l) noexcept;
  void raise_low_water() noexcept;
  void check_health() noexcept;
  void end_link(std::uint32_t peer, bool broken) noexcept;
  void lose(std::uint32_t peer) noexcept;
  void drop_link(std::uint32_t peer, link::state how) noexcept;
  void report_losses(event_sink& out) noexcept;
  void report_restored(event_sink& out) noexcept;
  void on_request(std::uint32_t peer, std::uint64_t now_ns) noexcept;
  void report_sent(event_sink& out) noexcept;
  void touch(std::uint32_t peer) noexcept;
  void cool(std::uint32_t peer) noexcept;
  [[nodiscard]] bool unfinished() const noexcept;
  void leave_word(event_sink& out) noexcept;

  // Closing.
  [[nodiscard]] bool all_said() noexcept;

  config config_;
  settings settings_;
  credentials credentials_;
  std::string name_;
  std::array<std::byte, 16> loopback_key_{};
  landing_zones zones_;
  watch_set watch_;
  unique_fd bell_;
  std::vector<std::unique_ptr<link>> links_;  // by rank; null at our own
  std::unique_ptr<meeting> meeting_;
  block_pool blocks_;
  bool open_ = false;

  // Sender -> reaper: peers to call or to leave. A hint and a list under its own lock.
  base::spinlock requests_lock_;
  std::vector<std::uint32_t> requests_;
  // Hazard: the last look before a sleep misses work, and the work's author sees nobody asleep.
  // Edge (S): author: store work, then load `asleep_`; sleeper: store `asleep_`, then load work.
  // Both pairs are seq_cst, the one order in which at least one of the two sees the other.
  std::atomic<bool> requested_{false};
  std::atomic<bool> unfinished_{false};
  std::atomic<bool> health_due_{false};
  std::atomic<bool> asleep_{false};
  std::atomic<bool> woken_{false};            // relaxed: a hint to look at the watch set
  std::atomic<int> watching_output_{0};       // relaxed: the same
  std::atomic<std::uint64_t> checked_ns_{0};  // relaxed: when health was checked last

  // The reaper's alone:
  std::vector<std::uint32_t> taken_requests_;
  std::vector<std::uint32_t> ready_;
  std::vector<std::uint32_t> ready_now_;
  std::vector<std::uint32_t> losing_;
  std::vector<std::uint32_t> restored_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sent_;  // peer, cookie: to be reported
  last_events last_;                                           // the same after `close`
  std::array<std::uint32_t, hot_max> hot_{};
  std::size_t hot_count_ = 0;
  std::size_t up_count_ = 0;
  unsigned rounds_ = 0;
  bool more_follows_ = false;      // of a large payload, part of which came last
  unsigned lingered_in_vain_ = 0;  // times, one after the other
  unsigned lingers_left_out_ = 0;  // still to be, because of that
};

}  // namespace headway::rails::tcp
