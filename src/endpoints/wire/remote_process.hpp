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
    const base::lock_guard guard(lock_);
    auto& said = others_.try_emplace(owner, answer::unknown).first->second;
    return said == answer::unknown ? std::exchange(said, answer::asked) : said;
  }
  void set(std::uint32_t owner, answer said) {
    const base::lock_guard guard(lock_);
    others_[owner] = said;
  }
  /// The same for this process's own region, without the lock. Relaxed: it carries no data.
  [[nodiscard]] answer look_own() noexcept {
    const auto known = own_.load(std::memory_order_relaxed);
    return known == answer::unknown ? own_.exchange(answer::asked, std::memory_order_relaxed)
                                    : known;
  }
  void set_own(answer said) noexcept { own_.store(said, std::memory_order_relaxed); }

 private:
  std::atomic<answer> own_{answer::unknown};
  base::spinlock lock_;
  std::map<std::uint32_t, answer> others_ HEADWAY_GUARDED_BY(lock_);
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
