#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>

#include "base/lock_guard.hpp"
#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "endpoints/wire/packing.hpp"
#include "endpoints/wire/preposted_zones.hpp"
#include "endpoints/wire/remote_endpoint.hpp"

namespace headway::endpoints {

/// Which regions of buffers one other process maps: an answer for each owner.
/// Threads:  any.
class region_answers {
 public:
  enum class answer : std::uint8_t { unknown, asked, yes, no };

  /// The answer so far. `unknown` is returned once: then the caller asks.
  [[nodiscard]] answer look(std::uint32_t owner) {
    {
      const base::lock_guard guard(lock_);
      if (const auto known = others_.find(owner); known != others_.end()) return known->second;
    }
    table::insert_return_type put;
    auto asked = entry(owner, answer::asked);
    const base::lock_guard guard(lock_);
    put = others_.insert(std::move(asked));
    return put.inserted ? answer::unknown : put.position->second;
  }
  void set(std::uint32_t owner, answer said) {
    table::insert_return_type put;
    auto known = entry(owner, said);
    const base::lock_guard guard(lock_);
    put = others_.insert(std::move(known));
    put.position->second = said;
  }
  /// The same for this process's own region, without the lock. Relaxed: it carries no data.
  [[nodiscard]] answer look_own() noexcept {
    const auto known = own_.load(std::memory_order_relaxed);
    return known == answer::unknown ? own_.exchange(answer::asked, std::memory_order_relaxed)
                                    : known;
  }
  void set_own(answer said) noexcept { own_.store(said, std::memory_order_relaxed); }

 private:
  using table = std::map<std::uint32_t, answer>;
  /// An entry for the table: nothing is allocated or freed under the lock.
  [[nodiscard]] static table::node_type entry(std::uint32_t owner, answer said) {
    table one{{owner, said}};
    return one.extract(one.begin());
  }

  std::atomic<answer> own_{answer::unknown};
  base::spinlock lock_;
  table others_ HEADWAY_GUARDED_BY(lock_);
};

/// Another process: the facts that the hot path reads, then the state that each part of the service
/// keeps for it.
/// Threads:  any.
struct remote_process {
  // Hazard: a sender sees `met` but not the limits below. Edge: (E) release in packet_sender::meet
  // -> acquire.
  std::atomic<bool> met{false};   ///< a packet went there, or came from there
  std::atomic<bool> lost{false};  ///< relaxed: it carries no data
  /// Shorter messages go at once, each in a packet of its own; 0: none. Constant once `met`.
  std::size_t at_once_bytes_end = 0;
  std::size_t inline_bytes = 0;  ///< payload that its rail never posts. Constant once `met`
  remote_endpoints endpoints;

  std::atomic<int> complaints{0};  ///< lines in the log about it. Relaxed: a counter
  /// large messages under way from it. Relaxed: a counter
  std::atomic<std::uint32_t> announced{0};
  region_answers regions;
  packing pack;
  preposted_zones zones;

  /// It violated the protocol: logs that, a few times.
  void complain(std::uint32_t peer, const char* what) noexcept;
  /// A message from it waits for memory: logs that, a few times.
  void lack_memory(std::uint32_t peer, std::uint64_t bytes) noexcept;
};

}  // namespace headway::endpoints
