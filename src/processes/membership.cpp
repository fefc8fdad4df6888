#include "processes/membership.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"

namespace headway::processes {
namespace {

/// Ranks from `rank` up to the next run's are the processes first, first + stride, …
struct run {
  std::uint32_t rank;
  std::uint32_t first;
  std::int32_t stride;
  bool operator==(const run&) const = default;
};

/// The runs of one stride (regardless of its sign), as a part of `irregular::by_peer`.
struct stride_part {
  std::uint32_t stride;
  std::uint32_t begin;
  std::uint32_t end;
};

std::int64_t step(std::span<const peer_id> peers, std::size_t at) noexcept {
  return std::int64_t{std::to_underlying(peers[at + 1])} - std::to_underlying(peers[at]);
}

/// How many of `peers`, from the first on, are one arithmetic progression.
std::size_t run_length(std::span<const peer_id> peers) noexcept {
  if (peers.size() < 2) return peers.size();
  std::size_t last = 1;
  while (last + 1 < peers.size() && step(peers, last) == step(peers, 0)) ++last;
  return last + 1;
}

/// Cuts the sequence from left to right into the longest runs; two processes that are not
/// neighbours are no run, because the next run may begin with the second.
std::vector<run> runs_of(std::span<const peer_id> peers) {
  std::vector<run> runs;
  for (std::size_t at = 0; at < peers.size();) {
    auto length = run_length(peers.subspan(at));
    if (length == 2 && std::abs(step(peers, at)) != 1) length = 1;
    runs.push_back({.rank = static_cast<std::uint32_t>(at),
                    .first = std::to_underlying(peers[at]),
                    .stride = length == 1 ? 1 : static_cast<std::int32_t>(step(peers, at))});
    at += length;
  }
  return runs;
}

}  // namespace

/// The form that is not one run: several, or the list if `runs` is empty.
struct membership::irregular {
  explicit irregular(std::span<const peer_id> peers);

  [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept {
    const auto next = index + 1 < runs.size() ? runs[index + 1].rank : size;
    return next - runs[index].rank;
  }
  [[nodiscard]] std::uint32_t lowest(std::uint32_t index) const noexcept {
    const run& r = runs[index];
    return r.stride > 0 ? r.first
                        : r.first - (count(index) - 1) * static_cast<std::uint32_t>(-r.stride);
  }
  [[nodiscard]] std::optional<int> rank_in_runs(std::uint32_t peer) const noexcept;
  [[nodiscard]] std::optional<int> rank_in_list(peer_id peer) const noexcept;

  std::uint32_t size;
  std::vector<run> runs;
  std::vector<stride_part> strides;
  std::vector<peer_id> list;           // by rank
  std::vector<std::uint32_t> by_peer;  // numbers of runs, or ranks in the list, in order of peers

 private:
  void sort_runs();
};

membership::irregular::irregular(std::span<const peer_id> peers)
    : size(static_cast<std::uint32_t>(peers.size())), runs(runs_of(peers)) {
  if (runs.size() <= peers.size() / 2) sort_runs();
  if (!strides.empty() && strides.size() <= strides_max) {
    runs.shrink_to_fit();
    return;
  }
  runs = std::vector<run>();
  strides = std::vector<stride_part>();
  list.assign(peers.begin(), peers.end());
  by_peer.resize(peers.size());
  for (std::uint32_t i = 0; i < size; ++i) by_peer[i] = i;
  std::ranges::sort(by_peer, {}, [&](std::uint32_t rank) { return list[rank]; });
}

/// Runs of one stride and one remainder do not overlap, because no process comes twice; so they are
/// ordered, and a process can be searched for.
void membership::irregular::sort_runs() {
  const auto stride_of = [&](std::uint32_t index) {
    return static_cast<std::uint32_t>(std::abs(runs[index].stride));
  };
  by_peer.resize(runs.size());
  for (std::uint32_t i = 0; i < by_peer.size(); ++i) by_peer[i] = i;
  std::ranges::sort(by_peer, {}, [&](std::uint32_t index) {
    const auto stride = stride_of(index), low = lowest(index);
    return std::tuple(stride, low % stride, low);
  });
  for (std::uint32_t i = 0; i < by_peer.size(); ++i) {
    const auto stride = stride_of(by_peer[i]);
    if (strides.empty() || strides.back().stride != stride) strides.push_back({stride, i, i});
    strides.back().end = i + 1;
  }
}

std::optional<int> membership::irregular::rank_in_runs(std::uint32_t peer) const noexcept {
  for (const auto& [stride, begin, end] : strides) {
    const auto part = std::span(by_peer).subspan(begin, end - begin);
    const auto above = std::ranges::upper_bound(
        part, std::pair(peer % stride, peer), {}, [&, each = stride](std::uint32_t index) {
          return std::pair(lowest(index) % each, lowest(index));
        });
    if (above == part.begin()) continue;
    const std::uint32_t index = *std::prev(above);
    const std::uint32_t low = lowest(index), n = (peer - low) / stride;
    if (low % stride != peer % stride || n >= count(index)) continue;
    const run& r = runs[index];
    return static_cast<int>(r.rank + (r.stride > 0 ? n : count(index) - 1 - n));
  }
  return std::nullopt;
}

std::optional<int> membership::irregular::rank_in_list(peer_id peer) const noexcept {
  const auto at =
      std::ranges::lower_bound(by_peer, peer, {}, [&](std::uint32_t rank) { return list[rank]; });
  if (at == by_peer.end() || list[*at] != peer) return std::nullopt;
  return static_cast<int>(*at);
}

membership::membership(std::span<const peer_id> peers) : size_(static_cast<int>(peers.size())) {
  HEADWAY_ASSERT(std::in_range<int>(peers.size()));
  if (run_length(peers) < peers.size()) {
    irregular_ = std::make_shared<const irregular>(peers);
  } else if (!peers.empty()) {
    first_ = std::to_underlying(peers.front());
    if (peers.size() > 1) stride_ = static_cast<std::int32_t>(step(peers, 0));
  }
  HEADWAY_ASSERT(stride_ != 0);
  // A process that comes twice is found at one of its ranks only.
  HEADWAY_DEBUG_ASSERT(std::ranges::all_of(
      std::views::iota(0, size_), [&](int rank) { return rank_of((*this)[rank]) == rank; }));
}

membership::membership(peer_id first, int count, std::int32_t stride)
    : size_(count),
      first_(count > 0 ? std::to_underlying(first) : 0),
      stride_(count > 1 ? stride : 1) {
  HEADWAY_ASSERT(count >= 0 && stride != 0);
  HEADWAY_ASSERT(count == 0 || std::in_range<std::int32_t>(std::to_underlying(first) +
                                                           std::int64_t{count - 1} * stride));
}

peer_id membership::irregular_peer(int rank) const noexcept {
  const auto& all = *irregular_;
  if (!all.list.empty()) return all.list[static_cast<std::size_t>(rank)];
  const auto wanted = static_cast<std::uint32_t>(rank);
  const auto after = std::ranges::upper_bound(all.runs, wanted, {}, &run::rank);
  const run& r = *std::prev(after);
  return peer_id{r.first + (wanted - r.rank) * static_cast<std::uint32_t>(r.stride)};
}

std::optional<int> membership::rank_of(peer_id peer) const noexcept {
  const auto index = std::to_underlying(peer);
  if (irregular_)
    return irregular_->list.empty() ? irregular_->rank_in_runs(index)
                                    : irregular_->rank_in_list(peer);
  const std::int64_t distance = std::int64_t{index} - first_;
  if (distance % stride_ != 0) return std::nullopt;
  const std::int64_t rank = distance / stride_;
  if (rank < 0 || rank >= size_) return std::nullopt;
  return static_cast<int>(rank);
}

bool membership::operator==(const membership& other) const noexcept {
  if (this == &other) return true;
  if (size_ != other.size_ || first_ != other.first_ || stride_ != other.stride_ ||
      !irregular_ != !other.irregular_)
    return false;
  return !irregular_ ||
         (irregular_->runs == other.irregular_->runs && irregular_->list == other.irregular_->list);
}

std::size_t membership::hash() const noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint32_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  add(static_cast<std::uint32_t>(size_));
  add(first_);
  add(static_cast<std::uint32_t>(stride_));
  if (irregular_) {
    for (const run& r : irregular_->runs) {
      add(r.first);
      add(static_cast<std::uint32_t>(r.stride));
    }
    for (const peer_id peer : irregular_->list) add(std::to_underlying(peer));
  }
  return static_cast<std::size_t>(hash);
}

std::size_t membership::bytes() const noexcept {
  if (!irregular_) return sizeof *this;
  const auto in = [](const auto& all) { return all.capacity() * sizeof all[0]; };
  return sizeof *this + sizeof *irregular_ + in(irregular_->runs) + in(irregular_->strides) +
         in(irregular_->list) + in(irregular_->by_peer);
}

membership_ref consecutive(int count, peer_id first) {
  return std::make_shared<const membership>(first, count);
}

/// Shared with the deleters of memberships, which may outlive the set.
struct membership_set::known {
  struct entry {
    const membership* made;
    std::weak_ptr<const membership> shared;
  };
  base::mutex lock;
  std::unordered_multimap<std::size_t, entry> by_hash HEADWAY_GUARDED_BY(lock);
};

membership_set::membership_set() : known_(std::make_shared<known>()) {}
membership_set::~membership_set() = default;

std::size_t membership_set::size() const {
  const base::lock_guard guard(known_->lock);
  return known_->by_hash.size();
}

membership_ref membership_set::intern(membership made) {
  const std::size_t hash = made.hash();
  const base::lock_guard guard(known_->lock);
  const auto [begin, end] = known_->by_hash.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    // What is in the table exists, but its deleter may be waiting for this lock to remove it.
    if (*at->second.made != made) continue;
    if (auto shared = at->second.shared.lock()) return shared;
  }
  const auto forget = [all = known_, hash](const membership* gone) {
    {
      const base::lock_guard held(all->lock);
      const auto [from, to] = all->by_hash.equal_range(hash);
      all->by_hash.erase(
          std::find_if(from, to, [&](const auto& each) { return each.second.made == gone; }));
    }
    delete gone;
  };
  HEADWAY_DEBUG_ASSERT(made.hash() == hash);
  membership_ref shared(new membership(std::move(made)), forget);
  known_->by_hash.emplace(hash, known::entry{shared.get(), shared});
  return shared;
}

}  // namespace headway::processes
