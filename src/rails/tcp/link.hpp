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
#include "rails/tcp/record_writer.hpp"
#include "rails/tcp/sent_log.hpp"
#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp {

/// The connection to one peer, and its state.
/// Threads:  `lock` guards what the sender and the reaper share. It is held during one non-blocking
///           `sendmsg` of at most a segment. Only this peer's one sender and the reaper use it, and
///           the reaper only tries.
struct link {
  enum class state : std::uint8_t {
    apart,    ///< nothing was sent yet
    calling,  ///< packets wait for the connection, the first one or the next one
    up,
    leaving,  ///< the peer has said goodbye; posted packets are being reported as failed
    left,
    losing,  ///< the peer is gone; posted packets are being reported as failed
    lost,
  };

  link(std::uint32_t number, std::size_t segment_bytes) noexcept
      : peer(number), out(segment_bytes) {}

  const std::uint32_t peer;  ///< its number in the table of processes
  /// `connect` was called; otherwise the peer has called us, and nothing is read from it yet. Edge
  /// (K): release in `connect` -> acquire in `link_reader::read`.
  std::atomic<bool> known{false};
  base::spinlock lock;
  state now HEADWAY_GUARDED_BY(lock) = state::apart;
  // why nothing more can be written (errno): the reaper is about to notice; 0: it can
  int write_error HEADWAY_GUARDED_BY(lock) = 0;
  bool goodbye_said HEADWAY_GUARDED_BY(lock) = false;  // by this process, while closing
  // the watch set reports when there is room
  bool watching_output HEADWAY_GUARDED_BY(lock) = false;
  bool queued HEADWAY_GUARDED_BY(lock) = false;        // `unwritten`, as was counted
  bool sever HEADWAY_GUARDED_BY(lock) = false;         // the reaper is to cut the connection
  bool revived HEADWAY_GUARDED_BY(lock) = false;       // report `restored` when it is up
  bool resuming HEADWAY_GUARDED_BY(lock) = false;      // the next connection goes on where this was
  std::vector<route> routes HEADWAY_GUARDED_BY(lock);  // constant once `known`
  output out HEADWAY_GUARDED_BY(lock);
  sent_log log HEADWAY_GUARDED_BY(lock){&unacknowledged_bytes};     // open: a connection is resumed
  std::unique_ptr<record_writer> records HEADWAY_GUARDED_BY(lock);  // null: it is not encrypted
  /// Something was accepted that the kernel has not taken yet.
  [[nodiscard]] bool unwritten() const noexcept HEADWAY_REQUIRES(lock) {
    return !out.empty() || log.rewound() || (records && !records->empty());
  }
  unique_fd fd;  // changed by the reaper, under the lock; read by it without

  sent_log::receipts told;  // written by the reaper

  // For `wake_up`:
  std::atomic<bool> requested{false};  // it is in the list of requests
  link* next_request = nullptr;

  // Only the reaper:
  std::unique_ptr<input> in;
  int low_water = 1;
  bool ready = false;    // in the list of links that have more to parse
  bool serving = false;  // in the list of links that have requests to answer
  bool refused = false;  // the peer's machine reports that no process listens
  std::uint64_t up_since_ns = 0;
  std::uint64_t cut_since_ns = 0;  // while it is being resumed
  base::waiting_report silence;    // for the log: the peer's machine does not answer
};

/// The links of one driver, by the peer's number: of peers for which `connect` was called, and of
/// peers that have called us.
/// Threads:  any.
class link_table {
 public:
  explicit link_table(std::size_t segment_bytes) noexcept : segment_bytes_(segment_bytes) {}
  /// Null: not met.
  [[nodiscard]] link* find(peer_id peer) const noexcept { return all_.find(peer); }
  /// Of a peer that was met.
  [[nodiscard]] link& at(std::uint32_t peer) const noexcept { return *all_.find(peer_id{peer}); }
  /// Created if the peer was not met yet.
  [[nodiscard]] link& meet(std::uint32_t peer) {
    const base::lock_guard guard(making_);
    const peer_id id{peer};
    link* const met = all_.find(id);
    return met ? *met : all_.emplace(id, peer, segment_bytes_);
  }
  template <class Visit>
  void each(Visit&& visit) const {
    all_.each(visit);
  }

 private:
  peer_map<link> all_;
  const std::size_t segment_bytes_;
  base::mutex making_;  // cold: `connect` and the reaper may create the same one
};

}  // namespace headway::rails::tcp
