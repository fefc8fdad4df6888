#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "rails/last_events.hpp"
#include "rails/tcp/connection_manager.hpp"
#include "rails/tcp/link.hpp"
#include "rails/tcp/link_reader.hpp"
#include "rails/tcp/link_writer.hpp"
#include "rails/tcp/memory_tables.hpp"
#include "rails/tcp/wake_up.hpp"

namespace headway::rails::tcp {

/// What the parts of a driver share. It outlives them.
struct shared_state {
  shared_state(settings s, std::string rail_name, processes::table& processes, base::clock time)
      : how(s),
        name(std::move(rail_name)),
        clock(time),
        known(processes),
        links(s.segment_bytes),
        writer(watch) {}

  const settings how;
  const std::string name;
  const base::clock clock;
  processes::table& known;
  link_table links;
  memory_tables memory;
  watch_set watch;
  wake_up wake;
  link_writer writer;
};

/// Implements `reap`: makes, reads, writes and closes connections, answers requests, reports.
/// Threads:  one at a time, called the reaper. `next_deadline_ns` any.
/// Progress: handles at most `watch_events_max` connections in a call, to keep the caller's mask
///           for a short time.
class reaper final : private connection_events, private link_reader::listener {
 public:
  static constexpr int watch_events_max = 32;

  reaper(shared_state& shared, const credentials& own);

  [[nodiscard]] base::result<std::vector<endpoint>> open(std::span<const net_interface> on);
  [[nodiscard]] std::size_t reap(std::span<event> out) noexcept;
  void release(const event& received) noexcept;
  [[nodiscard]] std::uint64_t next_deadline_ns() const noexcept {
    return connections_.next_deadline_ns();
  }

  /// While closing: says goodbye on links with nothing left to send. True: every peer's kernel has
  /// all.
  [[nodiscard]] bool finish_sending() noexcept;
  /// Cuts what is left, and keeps the ends of everything posted.
  void close(last_events& last) noexcept;

 private:
  static constexpr unsigned rounds_between_looks = 16;

  // Called by the connection manager.
  [[nodiscard]] relation relation_to(std::uint32_t peer) const noexcept override;
  [[nodiscard]] std::uint64_t received_from(std::uint32_t peer) const noexcept override;
  void connected(std::uint32_t peer, made_connection made) noexcept override;
  void unreachable(std::uint32_t peer, bool refused) noexcept override;
  [[nodiscard]] past past_with(std::uint32_t peer) const noexcept override;
  void called_again(std::uint32_t peer, std::uint64_t now_ns) noexcept override;

  // Called by the reader.
  void ended(std::uint32_t peer, input::state how) noexcept override;
  void asked(std::uint32_t peer) noexcept override;

  void meet_requests(std::uint64_t now_ns) noexcept;
  void meet_request(link& l, std::uint64_t now_ns) noexcept;
  void read(event_sink& out) noexcept;
  void look_at_watch_set(event_sink& out) noexcept;
  void write(std::uint32_t peer) noexcept;
  void answer_peers() noexcept;
  void check_health() noexcept;
  void look_at_silence(link& l) noexcept;
  void end_silence(link& l) const noexcept;
  void say_missing(link& l, std::uint64_t now_ns) const noexcept;
  [[nodiscard]] bool resume(std::uint32_t peer) noexcept;
  void lose(std::uint32_t peer) noexcept { drop(peer, link::state::losing); }
  void drop(std::uint32_t peer, link::state how) noexcept;
  void report(event_sink& out) noexcept;
  void report_losses(event_sink& out) noexcept;

  shared_state* shared_;
  connection_manager connections_;
  block_pool blocks_;
  link_reader reader_;
  rate_limited_log changes_;
  // Each grows by doubling, and holds a peer at most once.
  std::vector<std::uint32_t> serving_;  // peers with requests that are not answered yet
  std::vector<std::uint32_t> serving_now_;
  std::vector<std::uint32_t> losing_;
  std::vector<std::uint32_t> restored_;
  // peers that have called us and for which `connect` was not called
  std::vector<std::uint32_t> called_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sent_;  // (peer, cookie), to be reported
  std::size_t up_count_ = 0;
  unsigned rounds_ = 0;  // since the last poll of the watch set
  // A background thread has read all connections to their end since its last sleep.
  bool drained_ = false;
};

}  // namespace headway::rails::tcp
