#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "processes/table.hpp"
#include "rails/health.hpp"
#include "rails/memory.hpp"
#include "tests/simulation/network.hpp"

namespace headway::simulation {

/// A rail of a simulated process. It keeps both driver contracts, and uses the freedom that they
/// give as the network's `temper` says, or as a test decides: see `answer`.
/// Its network numbers the processes; above it they have the numbers of the table `known`.
/// Not `final`: a test may override a function, to note a call or to answer something else.
/// Threads:  with the machine's time as the contract says, else one, that of the network.
class driver : public rails::driver, protected rails::memory, protected rails::health {
 public:
  /// Process `self` of the network is `me` in `known`, which outlives the driver.
  driver(network& net, std::uint32_t rail, std::uint32_t self, processes::table& known,
         rails::peer_id me);
  ~driver() override;
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  [[nodiscard]] rails::limits query() const noexcept override;
  [[nodiscard]] base::result<std::vector<std::byte>> open() override;
  [[nodiscard]] base::result<> connect(rails::peer_id peer, std::span<const std::byte>) override;
  [[nodiscard]] rails::post send(rails::peer_id peer, const rails::packet& what) noexcept override;
  [[nodiscard]] std::size_t reap(std::span<rails::event> out) noexcept override;
  void release(const rails::event& received) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm(bool) noexcept override { return true; }
  void tick(std::uint64_t) noexcept override {}
  [[nodiscard]] rails::memory* memory() noexcept override { return this; }
  [[nodiscard]] rails::health* health() noexcept override;
  void close() noexcept override;

  /// The time at which `reap` will have events, or a call that got `retry` can be repeated; or
  /// never.
  [[nodiscard]] std::uint64_t due_ns() const noexcept;
  /// How many exposures are open.
  [[nodiscard]] std::size_t exposed_count() const noexcept { return exposures_.size(); }
  /// They, as the peers know them, the oldest first.
  [[nodiscard]] std::vector<rails::ticket> exposed() const;

  // ---- for tests that decide what a rail does
  /// `send` and `put` answer this from now on, unless the peer cannot be reached or too much is in
  /// flight; `done` instead of `posted` up to `inline_bytes_max`. Empty: as the `temper` says.
  void answer(std::optional<rails::post> how);
  /// Sends the next part of a packet; so many bytes follow in later parts. The peer's driver
  /// reports the first part as `received` and the others as `continued`.
  [[nodiscard]] rails::post send_part(rails::peer_id peer, std::span<const std::byte> part,
                                      std::size_t following) noexcept;
  /// Reports this event, which has no bytes, although nothing in the network has caused it.
  void report(const rails::event& what);

 protected:
  // rails::memory
  [[nodiscard]] rails::memory_limits limits_to(rails::peer_id peer) const noexcept override;
  [[nodiscard]] rails::copy_costs costs_with(rails::peer_id peer) const noexcept override;
  [[nodiscard]] base::result<rails::ticket> expose(const rails::exposure& what) noexcept override;
  void withdraw(const rails::ticket& exposed) noexcept override;
  [[nodiscard]] rails::post put(rails::peer_id peer, const rails::remote_place& to,
                                std::span<const std::byte> from,
                                std::uint64_t cookie) noexcept override;
  [[nodiscard]] rails::post get(rails::peer_id peer, const rails::remote_place& from,
                                std::span<std::byte> to, std::uint64_t cookie) noexcept override;
  // rails::health
  void sever(rails::peer_id peer) noexcept override;
  void revive(rails::peer_id peer) noexcept override;
  [[nodiscard]] std::uint64_t last_activity_ns(rails::peer_id peer) noexcept override;

 private:
  friend class network;
  /// The answer of `send` or `put` if it cannot continue; empty: it can.
  [[nodiscard]] std::optional<rails::post> refuse(rails::peer_id peer) noexcept;
  [[nodiscard]] rails::post dispatch(rails::peer_id peer, network::parcel p,
                                     std::size_t payload_bytes, std::uint64_t cookie) noexcept;
  [[nodiscard]] rails::post try_later(std::uint64_t at_ns) noexcept;
  [[nodiscard]] bool knows(std::uint32_t other) const { return others_.contains(other); }
  [[nodiscard]] bool knows(rails::peer_id peer) const { return numbers_.contains(peer); }
  [[nodiscard]] rails::peer_id peer_of(std::uint32_t other) const { return others_.at(other); }
  /// In the network, of a peer that was connected.
  [[nodiscard]] std::uint32_t number_of(rails::peer_id peer) const { return numbers_.at(peer); }
  void tell(const rails::event& what, std::uint64_t at_ns);
  [[nodiscard]] std::size_t report_ends(std::span<rails::event> out) noexcept;
  [[nodiscard]] bool take(std::uint32_t from, network::parcel& p, rails::event& e);

  network& net_;
  const std::uint32_t rail_, self_;
  processes::table& known_;
  std::map<std::uint32_t, rails::peer_id> others_;   // connected: by their numbers in the network
  std::map<rails::peer_id, std::uint32_t> numbers_;  // the same the other way round
  std::multiset<std::pair<std::uint64_t, std::uint32_t>> arrivals_;  // when, from where
  std::vector<std::pair<std::uint64_t, std::uint32_t>> kept_;        // of processes not yet known
  std::set<std::uint32_t> called_;                                   // those that were reported
  std::multimap<std::uint64_t, rails::event> told_;  // by the time at which they are reported
  std::deque<std::vector<std::byte>> held_;          // received, not released
  std::map<std::uint64_t, rails::exposure> exposures_;
  std::uint64_t last_exposure_ = 0;
  std::uint64_t retry_ns_ = UINT64_MAX;
  std::optional<rails::post> answer_;  // see `answer`
  bool closed_ = false;
  mutable std::uint64_t costs_asked_ = 0;  // under the lock of the network
};

}  // namespace headway::simulation
