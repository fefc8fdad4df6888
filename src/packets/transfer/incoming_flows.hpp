#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/assert.hpp"
#include "base/intrusive_list.hpp"
#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "packets/bundle/bundle_host.hpp"
#include "packets/transfer/flows.hpp"

namespace headway::packets {

struct lane;

/// Large messages that come in over several rails. The receiver asks for pieces, each exposed to
/// one rail, and withdraws those of a lost rail before it asks again, so that each byte is counted
/// once. The strategy decides how much each rail is still to carry.
///
/// Threads:  any. F is `lock_`: the flows, and the members of `lane` that are in F. Nothing is
///           called out of this module, sent or allocated under it. Drivers may allocate and make
///           system calls when memory is exposed or withdrawn: one thread at a time does that for
///           an inflow, without the lock (`serve`).
/// Source:   multirail08; the pulled pieces after self-scheduling loops (Polychronopoulos and Kuck,
///           IEEE ToC 1987).
class incoming_flows {
 public:
  explicit incoming_flows(const bundle_context& of) noexcept : of_(of) {}
  ~incoming_flows();
  incoming_flows(const incoming_flows&) = delete;
  incoming_flows& operator=(const incoming_flows&) = delete;

  /// See rendezvous: its memory is not empty.
  void fetch(transfer& whole) noexcept;
  /// [R] Bytes of a piece, which was asked for the `turn`th time.
  void landed(landing& piece, std::uint64_t turn, std::uint64_t bytes) noexcept;
  /// [R] The peer's end of a rail is not up: nothing of that piece was sent.
  void refused(const control& c) noexcept;
  /// A rail is lost: what was under way on it is asked for again.
  void retake(lane& l, std::uint64_t now_ns) noexcept;
  /// A rail is there that was not; what was learnt on its old connection counts no more.
  void renewed(lane& l, bool reconnected) noexcept;
  /// Asks for what no rail could be asked for.
  void feed_starving(std::uint64_t now_ns) noexcept;
  /// The peer is lost: every message ends, not well.
  void fail() noexcept;

  /// Bits of the rails over which something is to come.
  [[nodiscard]] std::uint32_t owing_lanes() noexcept;
  /// Calls `then` under the lock if nothing is coming.
  template <class Then>
  void if_none(Then then) noexcept {
    const base::lock_guard guard(lock_);
    if (inflows_.empty()) then();
  }

 private:
  /// A piece that is exposed or withdrawn without the lock.
  struct change {
    inflow::asked* piece;
    std::optional<rails::ticket> ticket;  // nothing: not exposed
  };
  /// What `serve` does between two looks at an inflow.
  struct step {
    std::array<change, inflow::pieces_max> withdrawn, exposed;
    std::size_t withdrawn_count = 0, exposed_count = 0;
    [[nodiscard]] bool empty() const noexcept { return withdrawn_count + exposed_count == 0; }
  };
  struct orders {
    std::array<control, inflow::pieces_max> all;
    std::size_t count = 0;
  };

  /// Does what can be done for an inflow now. The caller has set `served`, and this clears it.
  void serve(inflow& in, std::uint64_t now_ns) noexcept;
  void plan(inflow& in, bool may_feed, std::uint64_t now_ns, step& next) noexcept
      HEADWAY_REQUIRES(lock_);
  [[nodiscard]] bool settle(inflow& in, std::uint64_t now_ns, const step& done,
                            orders& out) noexcept HEADWAY_REQUIRES(lock_);
  /// Null: it is not at its end.
  [[nodiscard]] transfer* pause(inflow& in) noexcept HEADWAY_REQUIRES(lock_);
  void feed(inflow& in, std::uint64_t now_ns, step& next) noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] std::size_t describe(std::span<rail_state> states,
                                     std::uint64_t now_ns) const noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] bool choose(inflow& in, std::uint32_t on, std::uint64_t bytes, std::uint64_t now_ns,
                            step& next) noexcept HEADWAY_REQUIRES(lock_);
  void carry_out(step& next) const noexcept;
  void take_back(inflow::asked& piece, std::uint64_t now_ns) noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] inflow::asked* find(const rails::ticket& asked) noexcept HEADWAY_REQUIRES(lock_);
  [[nodiscard]] std::uint64_t chunk_bytes(const lane& l, std::uint64_t share) const noexcept;
  void learn(lane& l, const inflow::asked& piece, std::uint64_t now_ns) noexcept
      HEADWAY_REQUIRES(lock_);

  [[nodiscard]] inflow& take_spare();
  void feed_hungry(std::uint64_t now_ns) noexcept;

  const bundle_context& of_;
  base::spinlock lock_;
  base::intrusive_list<inflow> inflows_ HEADWAY_GUARDED_BY(lock_);
  base::intrusive_list<inflow> spare_ HEADWAY_GUARDED_BY(lock_);
  bool starving_ HEADWAY_GUARDED_BY(lock_) = false;  // some inflow has no piece under way
};

}  // namespace headway::packets
