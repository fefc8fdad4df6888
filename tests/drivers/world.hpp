#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinds.hpp"
#include "rails/memory.hpp"

namespace headway::rails::testing {

/// Calls one driver: reaps, copies what was received, keeps what was reported.
class station {
 public:
  explicit station(std::unique_ptr<driver> d) : driver_(std::move(d)) {}

  driver* operator->() { return driver_.get(); }
  driver& operator*() { return *driver_; }

  /// One `reap` of at most `most` events; returns how many came.
  std::size_t step(std::size_t most = 16);
  /// Gives back all packets that were kept because `keep` was set.
  void release_kept();

  bool keep = false;  ///< packets are not released at once
  std::vector<std::string> received;
  std::vector<peer_id> received_from;
  std::vector<std::uint64_t> following;  ///< bytes of each that are still to come
  std::vector<event> kept;
  std::uint64_t landed_bytes = 0;
  std::vector<std::uint64_t> landed_tokens;
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> failed;
  std::vector<peer_id> lost;
  std::vector<peer_id> restored;
  std::vector<peer_id> called;

 private:
  void keep_or_release(const event& e);
  void continue_packet(const event& e);

  std::unique_ptr<driver> driver_;
};

/// Sends, at once again while the answer is `retry`, up to a thousand times: for tests in which a
/// sound rail has room, and one with injected faults says `retry` now and then.
post send_soon(driver& from, peer_id to, const packet& p);
post put_soon(driver& from, peer_id to, const remote_place& where, std::span<const std::byte> bytes,
              std::uint64_t cookie = 0);
/// Exposes bytes, which must succeed.
ticket show(driver& whose, const exposure& what);

/// Drivers of one kind, opened and connected all to all, in this process.
struct world {
  world(const kind& k, int size);
  ~world();
  /// Steps every station until `enough`. False after two minutes: a machine may be busy.
  [[nodiscard]] bool run_until(const std::function<bool()>& enough);
  [[nodiscard]] station& first() { return stations.front(); }
  [[nodiscard]] station& last() { return stations.back(); }
  [[nodiscard]] peer_id first_id() const { return peer_id{0}; }
  [[nodiscard]] peer_id last_id() const {
    return peer_id{static_cast<std::uint32_t>(stations.size() - 1)};
  }
  /// Sends from the first to the last, stepping while the answer is `retry`.
  [[nodiscard]] post push(const packet& p);
  /// The same of an operation on the last one's memory.
  [[nodiscard]] post put(const remote_place& where, std::span<const std::byte> bytes,
                         std::uint64_t cookie = 0);
  [[nodiscard]] post put_lent(const remote_place& where, std::span<const std::byte> bytes,
                              std::uint64_t cookie);
  [[nodiscard]] post get(const remote_place& where, std::span<std::byte> to,
                         std::uint64_t cookie = 0);
  [[nodiscard]] post atomic(const remote_place& where, const atomic_request& what,
                            std::uint64_t& before, std::uint64_t cookie = 0);
  [[nodiscard]] post flush(std::uint64_t cookie = 0);
  /// Runs until what `said` has begun is over: false, it failed.
  [[nodiscard]] bool ends_well(post said, std::uint64_t cookie);

  std::vector<station> stations;
  std::vector<processes::table*> known;  ///< each station's

 private:
  [[nodiscard]] post taken(const std::function<post()>& offer);
};

/// A name that no other job on this machine has.
std::string fresh_job();

/// `size` bytes that depend on `seed`.
std::vector<std::byte> pattern(std::size_t size, unsigned seed);
std::span<const std::byte> bytes_of(std::string_view text);

/// Waits until `descriptor` is readable. False: it was not within `timeout_ms`.
bool readable(int descriptor, int timeout_ms);

}  // namespace headway::rails::testing
