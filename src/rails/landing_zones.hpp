#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/spinlock.hpp"
#include "rails/driver.hpp"

namespace headway::rails {

/// The landing zones of one driver: where its peers may have their pieces written.
/// Shape:    at most `zone_count` open at once, in groups of `ways` by a hash of the name;
///           allocates nothing after construction.
/// Threads:  every function any thread.
/// Progress: `close` waits for a `fill` of the same zone, which is one piece long; nothing else
///           waits.
/// Errors:   a full group, an unknown zone and a piece out of bounds are ordinary answers.
class landing_zones {
 public:
  static constexpr std::size_t ways = 8;
  static constexpr std::size_t group_count = 64;
  static constexpr std::size_t zone_count = ways * group_count;

  enum class answer : std::uint8_t {
    written,
    no_zone,        ///< never opened, closed since, or another peer's: drop the piece
    out_of_bounds,  ///< the piece ends behind the zone: the peer breaks the format
  };

  /// False: its group is full now.
  [[nodiscard]] bool open(peer_id peer, landing_id id, std::span<std::byte> target) noexcept;
  /// After return nothing is written there by this process. Closing a zone that is not open does
  /// nothing. Returns whom parts of it are still lent to: they are the caller's to take back.
  std::optional<peer_id> close(landing_id id) noexcept;

  /// Copies `piece` to `offset` of the zone.
  [[nodiscard]] answer write(peer_id peer, landing_id id, std::uint64_t offset,
                             std::span<const std::byte> piece) noexcept {
    return fill(peer, id, offset, piece.size(), [&](std::span<std::byte> target) {
      std::memcpy(target.data(), piece.data(), piece.size());
    });
  }

  /// Calls `writer(part of the zone)` while the zone is held open. Keep it short: see Progress.
  template <class Writer>
  [[nodiscard]] answer fill(peer_id peer, landing_id id, std::uint64_t offset, std::uint64_t bytes,
                            Writer&& writer) noexcept {
    return use(peer, id, offset, bytes, [&](zone&, std::span<std::byte> target) {
      if (!target.empty()) writer(target);
    });
  }

  /// Calls `taker(part of the zone)`, which lets the peer itself write there until `give_back`.
  template <class Taker>
  [[nodiscard]] answer lend(peer_id peer, landing_id id, std::uint64_t offset, std::uint64_t bytes,
                            Taker&& taker) noexcept {
    return use(peer, id, offset, bytes, [&](zone& z, std::span<std::byte> target) {
      ++z.lent;
      taker(target);
    });
  }
  /// The peer has written all of a part that was lent. Nothing happens where the zone was closed.
  void give_back(landing_id id) noexcept;

 private:
  struct alignas(64) zone {
    base::spinlock lock;
    std::atomic<std::uint32_t> id{0};  // 0: free. Changed under the lock, looked at without
    peer_id peer{};
    std::span<std::byte> target;
    std::uint32_t lent = 0;  // parts
  };
  using group = std::array<zone, ways>;

  [[nodiscard]] group& group_of(landing_id id) noexcept;
  [[nodiscard]] zone* find(landing_id id) noexcept;

  template <class User>
  [[nodiscard]] answer use(peer_id peer, landing_id id, std::uint64_t offset, std::uint64_t bytes,
                           User&& user) noexcept {
    zone* z = find(id);  // comes back locked
    if (!z) return answer::no_zone;
    answer said = answer::written;
    if (z->peer != peer) {
      said = answer::no_zone;
    } else if (offset > z->target.size() || bytes > z->target.size() - offset) {
      said = answer::out_of_bounds;
    } else {
      user(*z, z->target.subspan(offset, bytes));
    }
    z->lock.unlock();
    return said;
  }

  std::array<group, group_count> groups_;
};

}  // namespace headway::rails
