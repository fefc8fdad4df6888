#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/memory.hpp"

namespace headway::rails {

/// The exposures of one driver in this process.
/// Shape:    grows by pages of `page_entries` up to `entries_max`, and never shrinks. An id is the
///           index of its entry and how often that was used before; bit 63 stands for `notified`,
///           bit 62 is free for a driver.
/// Threads:  every function any thread.
/// Progress: `add` may allocate a page. The lock of an entry is held during a `use`, which handles
///           one piece, and `remove` waits for that; nothing else waits.
/// Errors:   an unknown id and a piece out of bounds are ordinary answers.
class exposures {
 public:
  static constexpr std::size_t page_entries = 1024;
  static constexpr std::size_t pages_max = 1024;
  static constexpr std::size_t entries_max = page_entries * pages_max;
  /// An id that no exposure ever has. A request for it is refused in its turn.
  static constexpr std::uint64_t never = 1;

  enum class answer : std::uint8_t {
    done,
    unknown,        ///< never exposed, withdrawn, or not to this peer for this purpose
    out_of_bounds,  ///< behind the end of the exposed bytes: the peer violates the format
  };
  struct found {
    answer what = answer::unknown;
    std::uint64_t token = 0;  ///< of the exposure, if `done`
  };
  /// An access that a peer requests.
  struct request {
    peer_id peer{};
    std::uint64_t id = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    access right = access::put;
  };

  exposures() = default;
  ~exposures() HEADWAY_NO_THREAD_SAFETY_ANALYSIS;  // no other thread
  exposures(const exposures&) = delete;
  exposures& operator=(const exposures&) = delete;

  /// The id; nothing: no memory for another.
  [[nodiscard]] std::optional<std::uint64_t> add(const exposure& what) noexcept;
  /// The same as a ticket.
  [[nodiscard]] base::result<ticket> expose(const exposure& what) noexcept;
  /// After return no `use` runs any more. Returns the holders of parts that are still lent (see
  /// `lend`), a bit each: the caller must take those back. An unknown id has no effect.
  std::uint64_t remove(std::uint64_t id) noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS;
  [[nodiscard]] static constexpr bool notified(std::uint64_t id) noexcept { return id >> 63 != 0; }

  /// So many bytes are awaited in exposures that are `notified` that they do not stay in the caches
  /// of one core's share. An exposure is not counted if it begins at the same address as the
  /// last one that is counted: many receives into one buffer need no more of the caches than one.
  /// Any thread; a hint.
  [[nodiscard]] bool awaits_more_than_caches_hold() const noexcept {
    constexpr std::uint64_t caches_hold_bytes = 32 * 1024 * 1024;
    return awaited_bytes_.load(std::memory_order_relaxed) >= caches_hold_bytes;
  }

  /// Calls `user(part of the exposed bytes)` while they cannot be withdrawn. `user` must be short:
  /// see Progress.
  template <class User>
  [[nodiscard]] found use(const request& r, User&& user) noexcept {
    return visit(r, [&](entry&, std::span<std::byte> part) {
      if (!part.empty()) user(part);
    });
  }
  /// Copies `piece` there.
  [[nodiscard]] found write(peer_id peer, std::uint64_t id, std::uint64_t offset,
                            std::span<const std::byte> piece) noexcept {
    return use({.peer = peer, .id = id, .offset = offset, .bytes = piece.size()},
               [&](std::span<std::byte> to) { std::memcpy(to.data(), piece.data(), to.size()); });
  }
  /// Copies from there; `to` has the size.
  [[nodiscard]] found read(peer_id peer, std::uint64_t id, std::uint64_t offset,
                           std::span<std::byte> to) noexcept {
    const request r{peer, id, offset, to.size(), access::get};
    return use(
        r, [&](std::span<std::byte> from) { std::memcpy(to.data(), from.data(), from.size()); });
  }
  /// Changes a word there; `before` is its old value. A place that is not a multiple of 8 in memory
  /// is out of bounds.
  [[nodiscard]] found change(peer_id peer, const remote_place& at, const atomic_request& what,
                             std::uint64_t& before) noexcept;

  /// Calls `taker(part)`, which allows the peer itself to write there until `give_back`. `remove`
  /// returns `holder`, which is below 64.
  template <class Taker>
  [[nodiscard]] found lend(const request& r, unsigned holder, Taker&& taker) noexcept {
    return visit(r, [&](entry& e, std::span<std::byte> part) HEADWAY_REQUIRES(e.lock) {
      ++e.lent;
      e.holders |= std::uint64_t{1} << holder;
      taker(part);
    });
  }
  /// The peer has written all of a part that was lent. Has no effect on one that was withdrawn.
  void give_back(std::uint64_t id) noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr int index_bits = 20;
  static_assert(entries_max == std::size_t{1} << index_bits);

  struct alignas(64) entry {
    std::atomic<std::uint64_t> current{
        0};  // its id, 0: free. Changed under the lock, looked at without
    std::span<std::byte> bytes HEADWAY_GUARDED_BY(lock);
    std::uint64_t token HEADWAY_GUARDED_BY(lock) = 0;
    std::uint64_t awaited_bytes HEADWAY_GUARDED_BY(lock) = 0;  // its part of the sum
    std::uint64_t uses HEADWAY_GUARDED_BY(lock) = 1;           // uses up to now, this one included
    std::uint64_t holders HEADWAY_GUARDED_BY(lock) = 0;
    process_set who HEADWAY_GUARDED_BY(lock);
    std::uint32_t next_free = none;                   // under free_lock_
    std::uint16_t lent HEADWAY_GUARDED_BY(lock) = 0;  // parts that are lent
    access rights HEADWAY_GUARDED_BY(lock) = access::put;
    base::spinlock lock;
  };
  static_assert(sizeof(entry) <= 128);
  using page = std::array<entry, page_entries>;

  [[nodiscard]] bool grow(std::size_t from) noexcept;
  [[nodiscard]] std::uint64_t count_awaited(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] entry* at(std::uint64_t id) noexcept;
  /// Returns the entry locked, or null, which the analysis cannot follow.
  [[nodiscard]] entry* find(std::uint64_t id) noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS;

  template <class Visitor>
  [[nodiscard]] found visit(const request& r,
                            Visitor&& visitor) noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
    entry* e = find(r.id);
    if (!e) return {};
    found said;
    if (e->who.has(r.peer) && allows(e->rights, r.right)) {
      said.token = e->token;
      if (r.offset > e->bytes.size() || r.bytes > e->bytes.size() - r.offset) {
        said.what = answer::out_of_bounds;
      } else {
        said.what = answer::done;
        visitor(*e, e->bytes.subspan(r.offset, r.bytes));
      }
    }
    e->lock.unlock();
    return said;
  }

  // Relaxed, both: hints, which publish no other data.
  std::atomic<std::uint64_t> awaited_bytes_{0};
  // where the last counted exposure begins; null: it was removed
  std::atomic<const std::byte*> last_awaited_{nullptr};
  // Hazard: an id is used before its page is visible. Edge (G): release of the page -> acquire.
  std::array<std::atomic<page*>, pages_max> pages_{};
  base::spinlock free_lock_;  // guards the two below, and the free entries' `next_free`
  std::uint32_t first_free_ HEADWAY_GUARDED_BY(free_lock_) = none;
  std::size_t page_count_ HEADWAY_GUARDED_BY(free_lock_) = 0;
};

}  // namespace headway::rails
