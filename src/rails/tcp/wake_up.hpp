#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.hpp"
#include "rails/tcp/link.hpp"
#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp {

/// Requests of other threads to the reaper, and the descriptor that ends its sleep for them.
/// Shape:    a list of links with a request, each once; allocates nothing.
/// Threads:  `set_unfinished`, `take_*`, `drain` by the reaper; the rest any thread.
/// Progress: never waits.
class wake_up {
  // Hazard: the sleeper's last look misses a request, and its author sees no sleeper.
  // Edge (S): author: store work, then load `asleep_`; sleeper: store `asleep_`, then load work.
  // Both pairs are seq_cst, the one order in which at least one of the two sees the other.
  // Hazard: a link is put on the list again while the reaper still reads where the list goes on.
  // Edge (N): the reaper reads `next_request`, then clears `requested`, release -> the next
  // requester acquires it before it writes `next_request`.
 public:
  /// `word` is the user data of the bell in the watch set.
  [[nodiscard]] base::result<> open(watch_set& watch, std::uint64_t word);
  void close() noexcept { bell_.reset(); }

  /// As in driver::arm.
  [[nodiscard]] bool arm(bool sleeping) noexcept;
  void ring_if_asleep() noexcept;
  /// Empties the bell.
  void drain() noexcept;
  [[nodiscard]] bool asleep() const noexcept { return asleep_.load(std::memory_order_relaxed); }

  /// Requests the reaper to call this peer, or to leave it, as the link says.
  void request(link& which) noexcept;
  /// Requests the reaper to check the health of every connection.
  void request_health_check() noexcept;
  /// A hint; the state is read under the lock, or by `take_*`.
  [[nodiscard]] bool requested() const noexcept {
    return requests_.load(std::memory_order_relaxed) != nullptr ||
           health_due_.load(std::memory_order_relaxed);
  }
  /// Calls `meet(link)` for each that has a request.
  template <class Meet>
  void take_requests(Meet&& meet) noexcept {
    if (!requests_.load(std::memory_order_relaxed)) return;  // a hint, confirmed below
    for (link* l = requests_.exchange(nullptr, std::memory_order_seq_cst); l;) {  // (S)
      link* const next = l->next_request;
      l->requested.store(false, std::memory_order_release);  // (N)
      meet(*l);
      l = next;
    }
  }
  [[nodiscard]] bool take_health_check() noexcept;
  /// Sets whether work is left that no descriptor signals.
  void set_unfinished(bool left) noexcept;

  /// A thread was asleep, so what came meanwhile is in the watch set: resets the hints.
  void set_woken() noexcept { woken_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool woken() const noexcept { return woken_.load(std::memory_order_relaxed); }
  void forget_woken() noexcept {
    if (woken()) woken_.store(false, std::memory_order_relaxed);
  }

 private:
  unique_fd bell_;
  std::atomic<link*> requests_{nullptr};
  std::atomic<bool> unfinished_{false};
  std::atomic<bool> health_due_{false};
  std::atomic<bool> asleep_{false};
  std::atomic<bool> woken_{false};
};

}  // namespace headway::rails::tcp
