#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>

#include "base/assert.hpp"
#include "processes/process.hpp"

namespace headway::processes {

/// The processes of a group in rank order: rank -> peer and peer -> rank.
///
/// Shape:    what is regular is stored as arithmetic progressions ("runs"): one run is a few words
///           for any number of ranks, more are 16 bytes each. A list of 8 bytes a rank is kept
///           only where it is smaller, or the runs have more than `strides_max` strides. At most
///           2^31 - 1 ranks; no process comes twice.
/// Threads:  immutable: any. Cheap to copy; most are shared through `membership_ref`.
/// Progress: rank -> peer is O(1) for one run and for a list, else O(log runs); peer -> rank is
///           O(1) for one run, O(log ranks) for a list, else O(strides * log runs).
class membership {
 public:
  static constexpr std::size_t strides_max = 4;

  /// No process.
  membership() noexcept = default;
  /// Rank i is `peers[i]`.
  explicit membership(std::span<const peer_id> peers);
  /// Rank i is the process `first + i * stride`.
  membership(peer_id first, int count, std::int32_t stride = 1);

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// The process that is `rank`, which is in [0, size()).
  [[nodiscard]] peer_id operator[](int rank) const noexcept {
    HEADWAY_DEBUG_ASSERT(0 <= rank && rank < size_);
    if (irregular_) [[unlikely]]
      return irregular_peer(rank);
    return peer_id{first_ + static_cast<std::uint32_t>(rank) * static_cast<std::uint32_t>(stride_)};
  }
  [[nodiscard]] std::optional<int> rank_of(peer_id peer) const noexcept;
  [[nodiscard]] bool contains(peer_id peer) const noexcept { return rank_of(peer).has_value(); }

  /// All of them in rank order.
  [[nodiscard]] auto peers() const noexcept {
    return std::views::iota(0, size_) |
           std::views::transform([this](int rank) { return (*this)[rank]; });
  }

  /// The same processes with the same ranks.
  [[nodiscard]] bool operator==(const membership& other) const noexcept;
  [[nodiscard]] std::size_t hash() const noexcept;
  /// What it takes of memory, this object included.
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct irregular;
  [[nodiscard]] peer_id irregular_peer(int rank) const noexcept;

  // Each sequence of processes has one form, so that equal ones compare and hash equal.
  int size_ = 0;
  std::uint32_t first_ = 0;  // of one run; else `irregular_` has everything
  std::int32_t stride_ = 1;
  std::shared_ptr<const irregular> irregular_;
};

using membership_ref = std::shared_ptr<const membership>;

/// Ranks 0, 1, … are `count` consecutive processes from `first` on. Not interned.
[[nodiscard]] membership_ref consecutive(int count, peer_id first = {});

/// Makes equal memberships one object, while at least one of them is in use.
/// Threads:  any.
/// Progress: a mutex; allocates. A membership may outlive the set that made it.
class membership_set {
 public:
  membership_set();
  ~membership_set();
  membership_set(const membership_set&) = delete;
  membership_set& operator=(const membership_set&) = delete;

  [[nodiscard]] membership_ref intern(membership made);
  [[nodiscard]] membership_ref intern(std::span<const peer_id> peers) {
    return intern(membership(peers));
  }
  /// Distinct memberships in use.
  [[nodiscard]] std::size_t size() const;

 private:
  struct known;
  std::shared_ptr<known> known_;
};

}  // namespace headway::processes
