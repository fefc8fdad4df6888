#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "processes/process.hpp"

namespace headway::rails {

/// What a driver has with each peer that it has met, by the peer's number.
/// Shape:    a pointer for each 64 numbers below a bound; 512 bytes more for each 64 of which one
///           is met. An entry never moves, and goes with the map.
/// Threads:  `find`, `newest`, `older` any thread; `emplace` one at a time, beside them; `open`,
///           `clear` alone.
/// Progress: never waits; `emplace` allocates.
template <class T>
class peer_map {
  // Hazard: an entry, or the 64 pointers that hold it, is seen before it is written.
  // Edge: (P) release in `emplace` -> (F) acquire in `find`, `newest`. What is older was published
  // before, so `older` needs no edge of its own.
  struct entry final : T {
    template <class... Arguments>
    explicit entry(entry* before, Arguments&&... given)
        : T(std::forward<Arguments>(given)...), older(before) {}
    entry* const older;
  };
  static constexpr std::size_t chunk_entries = 64;
  using chunk = std::array<std::atomic<entry*>, chunk_entries>;

 public:
  peer_map() = default;
  ~peer_map() { clear(); }
  peer_map(const peer_map&) = delete;
  peer_map& operator=(const peer_map&) = delete;

  void open(std::size_t bound) {
    HEADWAY_ASSERT(!newest_.load(std::memory_order_relaxed));
    bound_ = bound;
    chunks_.reset(new std::atomic<chunk*>[(bound + chunk_entries - 1) / chunk_entries]());
  }
  void clear() noexcept {
    for (entry* e = newest_.exchange(nullptr, std::memory_order_relaxed); e;)
      delete std::exchange(e, e->older);
    for (std::size_t i = 0; i * chunk_entries < bound_; ++i)
      delete chunks_[i].load(std::memory_order_relaxed);
    bound_ = 0;
  }

  /// Whether there may be such a peer.
  [[nodiscard]] bool covers(processes::peer_id peer) const noexcept {
    return static_cast<std::size_t>(peer) < bound_;
  }
  /// Null: not met.
  [[nodiscard]] T* find(processes::peer_id peer) const noexcept {
    const auto number = static_cast<std::size_t>(peer);
    if (number >= bound_) return nullptr;
    const chunk* part = chunks_[number / chunk_entries].load(std::memory_order_acquire);      // (F)
    return part ? (*part)[number % chunk_entries].load(std::memory_order_acquire) : nullptr;  // (F)
  }
  /// A peer that was not met.
  template <class... Arguments>
  T& emplace(processes::peer_id peer, Arguments&&... given) {
    HEADWAY_ASSERT(covers(peer) && !find(peer));
    const auto number = static_cast<std::size_t>(peer);
    auto& part = chunks_[number / chunk_entries];
    if (!part.load(std::memory_order_relaxed)) part.store(new chunk{}, std::memory_order_release);
    auto* made = new entry(newest_.load(std::memory_order_relaxed),  // ours: one thread at a time
                           std::forward<Arguments>(given)...);
    newest_.store(made, std::memory_order_release);  // (P)
    (*part.load(std::memory_order_relaxed))[number % chunk_entries].store(
        made, std::memory_order_release);  // (P)
    return *made;
  }

  // A walk over all that were met before it began, the newest first.
  [[nodiscard]] T* newest() const noexcept {
    return newest_.load(std::memory_order_acquire);  // (F)
  }
  [[nodiscard]] static T* older(const T& than) noexcept {
    return static_cast<const entry&>(than).older;
  }
  template <class Visit>
  void each(Visit&& visit) const {
    for (T* e = newest(); e; e = older(*e)) visit(*e);
  }

 private:
  std::size_t bound_ = 0;
  std::unique_ptr<std::atomic<chunk*>[]> chunks_;
  std::atomic<entry*> newest_{nullptr};
};

}  // namespace headway::rails
