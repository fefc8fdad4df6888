#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/spinlock.hpp"
#include "packets/bundle/keeper.hpp"
#include "packets/peer.hpp"
#include "progress/engine.hpp"
#include "rails/driver.hpp"
#include "sampling/profile.hpp"

namespace headway::packets {

class rail;

/// Where arrived packets go: the room above. Called inside polling rounds, one call at a time per
/// rail; must not wait or poll.
class receiver {
 public:
  /// A packet that is not this room's own: head, then payload. Readable during the call only.
  virtual void arrived(peer& from, std::span<const std::byte> bytes) noexcept = 0;
  virtual void landed(rails::landing_id zone, std::uint64_t bytes) noexcept = 0;
  /// A bundled peer asks for what we offered it under this number: the whole message, and in
  /// `owner` what `pushed` is to be called with. Once per number. `owner` stays null: no such
  /// offer.
  [[nodiscard]] virtual std::span<const std::byte> offered(peer& to, std::uint32_t send_id,
                                                           void*& owner) noexcept {
    static_cast<void>(to), static_cast<void>(send_id), static_cast<void>(owner);
    return {};
  }
  /// The peer has all it wants of that message; or it is lost, and our memory is left alone.
  virtual void pushed(void* owner, bool well) noexcept {
    static_cast<void>(owner), static_cast<void>(well);
  }
  /// What was pulled is here, or will not come. From any thread.
  virtual void pulled(void* owner, bool well) noexcept {
    static_cast<void>(owner), static_cast<void>(well);
  }
  /// Nothing will come from this process any more, and nothing reach it. Once per peer.
  virtual void lost(peer& whom) noexcept = 0;

 protected:
  ~receiver() = default;
};

/// All processes of the job, and the rails to them.
///
/// Threads:  `add_rail`, `connect`, `start`, `stop` alone; the rest any thread.
/// Progress: rails are reaped by ltasks at the root of the engine's queues.
class peers {
 public:
  peers(progress::engine& engine, std::size_t count, rails::peer_id self);
  ~peers();
  peers(const peers&) = delete;
  peers& operator=(const peers&) = delete;

  /// Nearer rails first: `connect` takes the first that reaches the peer, and when that one may be
  /// cut, the others like it too.
  void add_rail(std::unique_ptr<rails::driver> driver);
  /// `addresses[i]` is what rail i of that process published, if it has such a rail.
  /// `turns[i]` is the place of rail i among the rails of a bundle, the same number at both ends;
  /// without them, the order of the rails.
  [[nodiscard]] base::result<> connect(
      rails::peer_id whom, std::span<const std::optional<std::vector<std::byte>>> addresses,
      std::span<const std::size_t> turns = {});
  /// Before `start`: a second receiver, for packets of `beside_kinds` and up. It opens no landing
  /// zones, and is told of losses like the first, after it.
  void share(receiver& beside) noexcept { beside_ = &beside; }
  [[nodiscard]] bool bundled(rails::peer_id whom) const noexcept {
    return peers_[static_cast<std::uint32_t>(whom)]->bundle_ != nullptr;
  }
  /// What is known of a rail to a peer that has several, from earlier jobs; before `start`.
  void know(rails::peer_id whom, std::size_t rail_index, const sampling::profile& known);
  /// What transfers over it have taught; nothing: too few of them. When no more come.
  [[nodiscard]] std::optional<sampling::profile> learnt(rails::peer_id whom,
                                                        std::size_t rail_index) noexcept;
  void start(receiver& above);
  /// Closes the rails: what was taken is sent as far as a second allows. Then every item that was
  /// posted, and every message that was pulled or is being pulled, has had its end.
  void stop() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return peers_.size(); }
  [[nodiscard]] peer& at(std::uint32_t world_rank) noexcept { return *peers_[world_rank]; }
  [[nodiscard]] std::size_t rail_count() const noexcept { return rails_.size(); }
  [[nodiscard]] rails::driver& rail_at(std::size_t index) const noexcept;
  [[nodiscard]] int peers_on(std::size_t rail_index) const noexcept;
  [[nodiscard]] progress::engine& engine() noexcept { return engine_; }
  /// Of the peers with several rails.
  [[nodiscard]] const statistics& counts() const noexcept { return keeper_.counts; }
  /// Nothing: no peer has this rail beside another. [any thread]
  [[nodiscard]] std::optional<rail_use> use_of(std::size_t rail_index) const noexcept;

 private:
  friend class bundle;
  friend class peer;
  friend class rail;
  void stalled(peer& whom) noexcept;
  /// Something was left to others: tells a thread of ours, unless an idle poller is to find it.
  void nudge() noexcept;
  struct nudge_task : progress::ltask {
    nudge_task() noexcept : ltask("send what was left", &nudge_task::run, one_shot) {}
    static progress::ltask_result run(progress::ltask& self) noexcept {
      // Release: the next submitter finds our last use of it over. The rails' ltasks, in the round
      // that follows, do the work.
      static_cast<nudge_task&>(self).queued.store(false, std::memory_order_release);
      return progress::ltask_result::done;
    }
    static constexpr auto one_shot = progress::ltask_kind::one_shot;
    std::atomic<bool> queued{false};
  };
  /// Tries again what waits for this rail. [reaper]
  bool retry_stalled(std::size_t rail_index) noexcept;
  bool retry(peer& p) noexcept;
  [[nodiscard]] bool any_stalled() const noexcept {
    return stalled_count_.load(std::memory_order_relaxed) != 0;  // a hint; the list has the lock
  }
  /// [reaper]
  void lose(peer& whom) noexcept;
  [[gnu::hot]] void deliver(peer& from, std::span<const std::byte> packet) noexcept;
  // Of bundled peers; they are `messages`' alone.
  [[nodiscard]] std::span<const std::byte> offered(peer& to, std::uint32_t send_id,
                                                   void*& owner) noexcept {
    return above_->offered(to, send_id, owner);
  }
  void pushed(void* owner, bool well) noexcept { above_->pushed(owner, well); }
  void pulled(void* owner, bool well) noexcept { above_->pulled(owner, well); }
  [[nodiscard]] std::vector<std::size_t> in_turn(
      std::span<const std::optional<std::vector<std::byte>>> addresses,
      std::span<const std::size_t> turns) const;
  void bundle_up(peer& p, std::span<const std::size_t> in_order);
  void finish_bundles() noexcept;
  void end_posted() noexcept;
  static void tick(void* self) noexcept;

  progress::engine& engine_;
  const rails::peer_id self_;
  receiver* above_ = nullptr;
  receiver* beside_ = nullptr;
  bundle_keeper keeper_;
  std::vector<std::unique_ptr<peer>> peers_;
  std::vector<std::unique_ptr<rail>> rails_;
  base::spinlock stalled_lock_;
  base::intrusive_list<peer> stalled_list_;
  std::atomic<int> stalled_count_{0};
  const bool nudges_ = progress::offloading_from_environment() == progress::offloading::notify;
  nudge_task nudge_;
  bool started_ = false;
};

}  // namespace headway::packets
