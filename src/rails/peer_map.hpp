#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "processes/process.hpp"

namespace headway::rails {

/// What a driver keeps for each peer that it has met, by the peer's number.
/// Shape:    at most two pointers for each 64 numbers up to the largest, and 512 bytes more for
///           each 64 of which one is used. An entry never moves, and lives as long as the map.
/// Threads:  `find`, `newest`, `older` any thread; `emplace` one thread at a time, together with
///           those; `clear` with no other thread.
/// Progress: never waits; `emplace` allocates.
template <class T>
class peer_map {
  // Hazard: an entry, a chunk or a directory is visible before it is written.
  // Edge: (P) release in `emplace` -> (F) acquire in `find`, `newest`. Older entries were published
  // before, so `older` needs no edge of its own.
  // Hazard: a reader uses a directory that was outgrown. It is kept until `clear`. The reader
  // misses what was added since, as if it had searched a moment earlier.
  struct entry final : T {
    template <class... Arguments>
    explicit entry(entry* before, Arguments&&... given)
        : T(std::forward<Arguments>(given)...), older(before) {}
    entry* const older;
  };
  static constexpr std::size_t chunk_entries = 64;
  using chunk = std::array<std::atomic<entry*>, chunk_entries>;
  struct directory {
    directory(std::size_t n, std::unique_ptr<directory> smaller)
        : count(n), chunks(new std::atomic<chunk*>[n]()), outgrown(std::move(smaller)) {}
    const std::size_t count;
    const std::unique_ptr<std::atomic<chunk*>[]> chunks;
    const std::unique_ptr<directory> outgrown;
  };

 public:
  peer_map() = default;
  ~peer_map() { clear(); }
  peer_map(const peer_map&) = delete;
  peer_map& operator=(const peer_map&) = delete;

  void clear() noexcept {
    for (entry* e = newest_.exchange(nullptr, std::memory_order_relaxed); e;)
      delete std::exchange(e, e->older);
    const std::unique_ptr<directory> all(now_.exchange(nullptr, std::memory_order_relaxed));
    for (std::size_t i = 0; all && i < all->count; ++i)
      delete all->chunks[i].load(std::memory_order_relaxed);
  }

  /// Null: not met.
  [[nodiscard]] T* find(processes::peer_id peer) const noexcept {
    const auto number = static_cast<std::size_t>(peer);
    const directory* all = now_.load(std::memory_order_acquire);  // (F)
    if (!all || number / chunk_entries >= all->count) return nullptr;
    const chunk* part = all->chunks[number / chunk_entries].load(std::memory_order_acquire);  // (F)
    return part ? (*part)[number % chunk_entries].load(std::memory_order_acquire) : nullptr;  // (F)
  }
  /// Adds a peer that was not met.
  template <class... Arguments>
  T& emplace(processes::peer_id peer, Arguments&&... given) {
    HEADWAY_ASSERT(!find(peer));
    const auto number = static_cast<std::size_t>(peer);
    auto& part = directory_for(number).chunks[number / chunk_entries];
    if (!part.load(std::memory_order_relaxed))
      part.store(new chunk{}, std::memory_order_release);  // (P)
    // relaxed: one thread at a time writes it
    auto* made =
        new entry(newest_.load(std::memory_order_relaxed), std::forward<Arguments>(given)...);
    newest_.store(made, std::memory_order_release);  // (P)
    (*part.load(std::memory_order_relaxed))[number % chunk_entries].store(
        made, std::memory_order_release);  // (P)
    return *made;
  }

  // The newest entry; with `older`, a walk over all that were there when it began.
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
  directory& directory_for(std::size_t number) {
    // relaxed: one thread at a time writes it
    directory* old = now_.load(std::memory_order_relaxed);
    const std::size_t least = number / chunk_entries + 1;
    if (old && least <= old->count) return *old;
    auto* made = new directory(std::bit_ceil(least), std::unique_ptr<directory>(old));
    for (std::size_t i = 0; old && i < old->count; ++i)
      made->chunks[i].store(old->chunks[i].load(std::memory_order_relaxed),
                            std::memory_order_relaxed);  // (P) follows
    now_.store(made, std::memory_order_release);         // (P)
    return *made;
  }

  std::atomic<directory*> now_{nullptr};  // owned
  std::atomic<entry*> newest_{nullptr};
};

}  // namespace headway::rails
