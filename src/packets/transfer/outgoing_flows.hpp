#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/intrusive_list.hpp"
#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "packets/bundle/bundle_host.hpp"
#include "packets/transfer/flows.hpp"
#include "progress/core/engine.hpp"

namespace headway::packets {

struct lane;

/// Sends large messages over several rails: gives the pieces that the peer asks for to the rails
/// that it names.
///
/// Threads:  any, except those marked with a section. Nothing is called out of this module, sent
///           or allocated under the lock.
class outgoing_flows {
 public:
  outgoing_flows(const bundle_context& of, progress::engine& engine) noexcept
      : of_(of), engine_(engine) {}
  outgoing_flows(const outgoing_flows&) = delete;
  outgoing_flows& operator=(const outgoing_flows&) = delete;

  /// [R] The peer asks for a piece of a message that was announced to it.
  void asked(transfer& whole, const control& c) noexcept;
  /// [R] The peer asks for nothing more of it; `well`: it has received all. True: no driver reads
  /// it any more; otherwise it is ended when that is so.
  [[nodiscard]] bool over(transfer& whole, bool well) noexcept;
  /// [S] See bundle_host.
  [[nodiscard]] bool send_pieces() noexcept;
  void drop_pieces() noexcept;
  /// Calls `then` under the lock if no announced message is under way.
  template <class Then>
  void if_none(Then then) noexcept {
    const base::lock_guard guard(lock_);
    if (under_way_ == 0) then();
  }

 private:
  [[nodiscard]] bool send_next(lane& l, std::uint32_t number) noexcept;
  void piece_over(flow_piece& piece) noexcept;
  static void piece_sent(send_item& item, bool well) noexcept;

  const bundle_context& of_;
  progress::engine& engine_;
  std::atomic<int> waiting_pieces_{0};  // a hint for S: `pump` is called after each addition
  base::spinlock lock_;
  // messages of which pieces were requested
  std::uint32_t under_way_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::array<base::intrusive_list<flow_piece>, rails_per_peer_max> pieces_
      HEADWAY_GUARDED_BY(lock_);  // by rail
};

}  // namespace headway::packets
