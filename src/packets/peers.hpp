#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/thread_annotations.hpp"
#include "packets/bundle/bundle_set.hpp"
#include "packets/nudger.hpp"
#include "packets/peer.hpp"
#include "packets/peer_state.hpp"
#include "packets/peer_table.hpp"
#include "packets/rail.hpp"
#include "packets/rail_host.hpp"
#include "packets/receiver.hpp"
#include "packets/settings.hpp"
#include "packets/stalled_list.hpp"
#include "packets/transfer/rendezvous.hpp"
#include "progress/core/engine.hpp"
#include "rails/driver.hpp"
#include "sampling/profile.hpp"

namespace headway::packets {

class peers;

/// Finds the rails to a peer when it is used for the first time.
class router {
 public:
  /// Calls `all.connect(id, …)` once, and `all.know` with the stored profiles of those rails if
  /// they are several. Also when a peer is found to send over another rail. One call at a time,
  /// from any thread, also inside a polling round when the peer has sent first. On a fault the peer
  /// counts as lost, for the reason in the text.
  [[nodiscard]] virtual base::result<> route(peers& all, rails::peer_id id) = 0;
  /// Whether some rail would detect the end of the process, which is not this one, once it is a
  /// peer. Any thread.
  [[nodiscard]] virtual bool end_is_seen(rails::peer_id) const noexcept { return false; }

 protected:
  ~router() = default;
};

/// The processes that this one exchanges packets with, and the rails to them. A peer is created,
/// and its rails are looked up, when either side uses it for the first time.
///
/// A process that lacks what a near rail needs to reach a peer (descriptors, memory) sends to it
/// over the next rail that does, and receives over whichever the peer uses. The peer is found to
/// call over another rail in the next tick. Large messages between the two go over the rail that
/// both can use, in both directions.
///
/// Shape:    a process that was never used costs at most 32 bytes.
/// Threads:  `add_rail`, `share`, `start`, `stop` alone; `connect` and `know` inside
///           `router::route`; the rest any thread.
/// Progress: rails are reaped by ltasks at the root of the engine's queues. `at` and `use` wait for
///           a router when the peer is new.
/// Errors:   a peer that no rail reaches is lost from the start: `post` answers `down`.
class peers final : private peer_finder {
 public:
  /// `routes` is used until `stop`.
  peers(progress::engine& engine, rails::peer_id self, router& routes, const settings& chosen = {});
  ~peers();
  peers(const peers&) = delete;
  peers& operator=(const peers&) = delete;

  /// Nearer rails first: `connect` takes the first that reaches the peer, and if that one can be
  /// cut, others that can be cut, too.
  void add_rail(std::unique_ptr<rails::driver> driver, rail_use when = rail_use::on_first_use);
  /// Before `start`: sets a second receiver, for packets of `beside_kinds` and up. Its `lost` is
  /// called after that of the first.
  void share(receiver& beside) noexcept { above_.second = &beside; }
  void start(receiver& above);
  /// Sends what was taken, for at most a second, and closes the rails. Afterwards every item that
  /// was posted, and every transfer that several rails carry, has ended.
  void stop() noexcept;

  /// `addresses[i]` is what rail i of that process published, if it has such a rail. `turns[i]` is
  /// the place of rail i among the rails of a bundle, the same number at both ends; without
  /// `turns`, the order of the rails. Returns how many rails reach the process.
  [[nodiscard]] base::result<std::size_t> connect(
      rails::peer_id id, std::span<const std::optional<std::vector<std::byte>>> addresses,
      std::span<const std::size_t> turns = {});
  /// Sets the profile, from earlier jobs, of one of the several rails to a peer.
  void know(rails::peer_id id, std::size_t rail_index, const sampling::profile& known);
  /// The profile that this job's transfers have shown; nothing: there were too few. After the last
  /// transfer.
  [[nodiscard]] std::optional<sampling::profile> learnt(rails::peer_id id,
                                                        std::size_t rail_index) const noexcept;

  /// Of the job at its start; a peer's number may be larger.
  [[nodiscard]] std::size_t size() const noexcept { return settings_.processes; }
  [[nodiscard]] peer& at(rails::peer_id id) noexcept { return state_of(id); }
  [[nodiscard]] peer& at(std::uint32_t number) noexcept { return state_of(rails::peer_id{number}); }
  /// The peer if it was used already, else null.
  [[nodiscard]] peer* find(rails::peer_id id) const noexcept {
    return table_.find(static_cast<std::uint32_t>(id));
  }
  /// The peer was never used, so its end would not be noticed by a thread that waits for it: call
  /// `at` first.
  [[nodiscard]] bool unwatched(rails::peer_id id) const noexcept {
    return !find(id) && router_.end_is_seen(id);
  }
  /// As `at`; if no rail reaches the peer, the fault holds the reason.
  [[nodiscard]] base::result<> use(rails::peer_id id);

  [[nodiscard]] std::size_t rail_count() const noexcept { return rails_.size(); }
  [[nodiscard]] rails::driver& rail_at(std::size_t index) const noexcept;
  [[nodiscard]] int peers_on(std::size_t rail_index) const noexcept;
  [[nodiscard]] progress::engine& engine() noexcept { return engine_; }
  [[nodiscard]] packets::rendezvous& rendezvous() noexcept { return large_; }
  [[nodiscard]] const settings& chosen() const noexcept { return settings_; }
  /// Of the peers with several rails.
  [[nodiscard]] const statistics& counts() const noexcept { return set_.counts; }
  /// [any thread] Nothing: no peer is reached by this rail and another one.
  [[nodiscard]] std::optional<lane_use> use_of(std::size_t rail_index) const noexcept;

 private:
  [[nodiscard]] peer_state& state_of(rails::peer_id id) noexcept override {
    peer_state* known = table_.find(static_cast<std::uint32_t>(id));
    return known ? *known : first_use(id);
  }
  [[nodiscard]] peer_state& first_use(rails::peer_id id) noexcept;
  /// Routes the peer, or marks it lost, and makes it visible to `find`.
  [[nodiscard]] base::result<> make(rails::peer_id id) HEADWAY_REQUIRES(creation_lock_);
  /// Gives the peer its rails.
  [[nodiscard]] base::result<> route(rails::peer_id id) HEADWAY_REQUIRES(creation_lock_);
  /// The rails to a peer. `fallen_back`: it is only one, because this process lacks what a nearer
  /// one needs.
  struct reaching_rails {
    std::vector<std::size_t> rails;
    bool fallen_back = false;
  };
  [[nodiscard]] base::result<reaching_rails> connect_rails(
      rails::peer_id id, std::span<const std::optional<std::vector<std::byte>>> addresses,
      std::span<const std::size_t> turns);
  [[nodiscard]] std::vector<std::size_t> in_turn(
      std::span<const std::optional<std::vector<std::byte>>> addresses,
      std::span<const std::size_t> turns) const;
  /// The rail alone reaches the peer.
  void resume_if_cut(rails::peer_id id, rail& r) noexcept;
  void bundle_up(peer_state& p, std::span<const std::size_t> in_order)
      HEADWAY_REQUIRES(creation_lock_);
  /// Starts to poll the rail, if any process may use it.
  void put_to_work(rail& r) HEADWAY_REQUIRES(creation_lock_);
  void order_rails() noexcept HEADWAY_REQUIRES(creation_lock_);
  /// The peers in the order in which they were made; null: there is no further one.
  [[nodiscard]] peer_state* made(std::size_t index) const noexcept;
  /// Ends what waits for peers that no rail reaches. Called in a tick, because a thread that uses a
  /// peer for the first time may hold locks of the modules above.
  void tell_refused() noexcept;

  void called(rails::peer_id id, std::size_t rail_index) noexcept override;
  /// Receives from a peer over a rail that is not used to send to it.
  [[nodiscard]] base::result<std::size_t> admit(
      peer_state& p, std::size_t rail_index,
      std::span<const std::optional<std::vector<std::byte>>> addresses)
      HEADWAY_REQUIRES(creation_lock_);
  void count_peer(rails::peer_id id, rail& r) HEADWAY_REQUIRES(creation_lock_);
  void answer_calls(rail& r) noexcept;
  [[nodiscard]] single_rail::way way_over(std::size_t rail_index) const noexcept;
  void send_collected() noexcept;
  void finish_bundles() noexcept;
  void end_posted() noexcept;
  static void tick(void* self) noexcept;

  progress::engine& engine_;
  const rails::peer_id self_;
  const settings settings_;
  router& router_;
  receivers above_;
  packets::rendezvous large_;
  bundle_set set_;
  stalled_list stalled_;
  nudger nudge_;
  peer_table table_;
  std::vector<std::unique_ptr<rail>> rails_;
  mutable base::mutex creation_lock_;  // cold; held while a new peer's rails are looked up
  std::vector<std::unique_ptr<peer_state>> made_ HEADWAY_GUARDED_BY(creation_lock_);
  peer_state* in_the_making_ HEADWAY_GUARDED_BY(creation_lock_) = nullptr;
  // while the router is asked about a peer that was made earlier: the rail over which it calls
  std::optional<std::size_t> calling_rail_ HEADWAY_GUARDED_BY(creation_lock_);
  // `lost` of the modules above is not called yet:
  std::vector<peer_state*> refused_ HEADWAY_GUARDED_BY(creation_lock_);
  bool started_ HEADWAY_GUARDED_BY(creation_lock_) = false;
  bool stopped_ HEADWAY_GUARDED_BY(creation_lock_) = false;
  bool set_watched_ HEADWAY_GUARDED_BY(creation_lock_) = false;
};

}  // namespace headway::packets
