#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "base/waiting_report.hpp"
#include "processes/table.hpp"
#include "rails/driver.hpp"
#include "rails/peer_map.hpp"
#include "rails/tcp/address.hpp"
#include "rails/tcp/input.hpp"
#include "rails/tcp/output.hpp"
#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp {

/// What this process has with one peer.
/// Threads:  `lock` guards what the sender and the reaper share. It is held across one non-blocking
///           `sendmsg`, at most a segment long: the two that may meet there are this peer's one
///           sender and the reaper, and the latter only tries the lock.
struct link {
  enum class state : std::uint8_t {
    apart,    ///< nothing was sent yet
    calling,  ///< packets wait for the connection
    up,
    leaving,  ///< the peer has said good-bye; what was posted is being reported as failed
    left,
    losing,  ///< the peer is gone; what was posted is being reported as failed
    lost,
  };

  link(std::uint32_t number, std::uint32_t rank_there, std::size_t segment_bytes) noexcept
      : peer(number), rank(rank_there), out(segment_bytes) {}

  const std::uint32_t peer;  ///< its number in the table of processes
  const std::uint32_t rank;  ///< in its job, for the log
  /// `connect` has been called; else the peer has called us, and nothing is read from it yet.
  /// Edge (K): release in `connect` -> acquire in `link_reader::read`.
  std::atomic<bool> known{false};
  base::spinlock lock;
  state now HEADWAY_GUARDED_BY(lock) = state::apart;
  bool write_failed HEADWAY_GUARDED_BY(lock) = false;     // the reaper will find out why
  bool goodbye_said HEADWAY_GUARDED_BY(lock) = false;     // by this process, while closing
  bool watching_output HEADWAY_GUARDED_BY(lock) = false;  // the watch set tells when there is room
  bool queued HEADWAY_GUARDED_BY(lock) = false;           // `out` is not empty, as was counted
  bool sever HEADWAY_GUARDED_BY(lock) = false;            // the reaper is to give the connection up
  bool revived HEADWAY_GUARDED_BY(lock) = false;          // `restored` is due when it is up
  std::vector<route> routes HEADWAY_GUARDED_BY(lock);     // constant once `known`
  output out HEADWAY_GUARDED_BY(lock);
  unique_fd fd;  // changed by the reaper, under the lock; read by it without

  // Of `wake_up`:
  std::atomic<bool> requested{false};  // it is in the list of requests
  link* next_request = nullptr;

  // The reaper's alone:
  std::unique_ptr<input> in;
  int low_water = 1;
  bool ready = false;    // in the list of links that have more to parse
  bool serving = false;  // in the list of links that have requests to answer
  bool refused = false;  // the peer's machine says that no process listens
  std::uint64_t up_since_ns = 0;
  base::waiting_report silence;  // of the peer's machine
};

/// The links of one driver, by the peer's number: of the peers that `connect` was called for, and
/// of those that have called us.
/// Threads:  any.
class link_table {
 public:
  link_table(const processes::table& known, std::size_t segment_bytes) noexcept
      : known_(&known), segment_bytes_(segment_bytes) {}
  /// Null: not met.
  [[nodiscard]] link* find(peer_id peer) const noexcept { return all_.find(peer); }
  /// Of a peer that was met.
  [[nodiscard]] link& at(std::uint32_t peer) const noexcept { return *all_.find(peer_id{peer}); }
  /// Made, if it was not met yet.
  [[nodiscard]] link& meet(std::uint32_t peer) {
    const base::lock_guard guard(making_);
    const peer_id id{peer};
    link* const met = all_.find(id);
    return met ? *met : all_.emplace(id, peer, known_->at(id).rank, segment_bytes_);
  }
  template <class Visit>
  void each(Visit&& visit) const {
    all_.each(visit);
  }

 private:
  peer_map<link> all_;
  const processes::table* known_;
  const std::size_t segment_bytes_;
  base::mutex making_;  // cold: `connect` and the reaper may meet the same peer at once
};

}  // namespace headway::rails::tcp
