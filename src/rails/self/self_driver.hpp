#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/spinlock.hpp"
#include "base/thread_annotations.hpp"
#include "rails/driver.hpp"
#include "rails/exposures.hpp"
#include "rails/last_events.hpp"
#include "rails/memory.hpp"

namespace headway::rails::self {

/// Carries a process's messages to itself. The smallest driver: a model for new ones.
///
/// Shape:    two queues of `slot_count`. Packets are copied into one and wait to be released; puts
///           are noted in the other and copied once, straight to their destination. `get` and
///           `atomic` are done immediately.
/// Threads:  as the contracts say; one lock guards the positions of the queues and is never held
///           while bytes are copied.
/// Progress: never waits. A large payload moves in pieces of `piece_bytes`, one for each `reap`.
///           Whatever is sent can wait, because its sender and its receiver are one process, which
///           has something to do: see `arm_for_hurried`.
/// Errors:   none beyond the contract's ordinary answers.
class self_driver final : public driver, private memory {
 public:
  static constexpr std::size_t header_bytes_max = 128;
  static constexpr std::size_t eager_bytes_max = 8192;
  static constexpr std::size_t piece_bytes = 256 * 1024;
  static constexpr std::uint64_t slot_count = 64;

  explicit self_driver(peer_id me) noexcept : me_(me) {}
  ~self_driver() override { close(); }
  self_driver(const self_driver&) = delete;
  self_driver& operator=(const self_driver&) = delete;

  [[nodiscard]] limits query() const noexcept override;
  [[nodiscard]] base::result<std::vector<std::byte>> open() override;
  [[nodiscard]] base::result<> connect(peer_id peer, std::span<const std::byte> address) override;
  [[nodiscard]] post send(peer_id peer, const packet& what) noexcept override;
  [[nodiscard, gnu::hot]] std::size_t reap(std::span<event> out) noexcept override;
  void release(const event& received) noexcept override;
  [[nodiscard]] int descriptor() const noexcept override { return bell_; }
  [[nodiscard]] bool arm(bool sleeping) noexcept override;
  [[nodiscard]] bool arm_for_hurried() noexcept override { return arm_for(sleep::hurried); }
  void tick(std::uint64_t now_ns) noexcept override;
  [[nodiscard]] rails::memory* memory() noexcept override { return this; }
  void close() noexcept override;

 private:
  using slot = std::array<std::byte, header_bytes_max + eager_bytes_max>;
  struct posted_put {
    std::uint64_t id = 0;  // of the exposure
    std::uint64_t offset = 0;
    std::span<const std::byte> from;
    std::uint64_t cookie = 0;
  };

  [[nodiscard]] memory_limits limits_to(peer_id peer) const noexcept override;
  [[nodiscard]] base::result<ticket> expose(const exposure& what) noexcept override;
  void withdraw(const ticket& exposed) noexcept override;
  [[nodiscard]] post put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                         std::uint64_t cookie) noexcept override;
  [[nodiscard]] post flush(peer_id peer, std::uint64_t) noexcept override {
    return peer == me_ ? post::done : post::down;  // a put ends when its bytes are in place
  }
  [[nodiscard]] post atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                            std::uint64_t& before, std::uint64_t cookie) noexcept override;

  enum class sleep : std::uint8_t { none, hurried, all };  ///< what ends it

  [[nodiscard]] bool arm_for(sleep what) noexcept;
  [[nodiscard]] bool end_sleep() noexcept HEADWAY_REQUIRES(lock_);
  void ring_if(bool asleep) noexcept;
  [[nodiscard]] std::size_t move_piece(std::span<event> out) noexcept;

  const peer_id me_;
  exposures exposed_;
  int bell_ = -1;                  // an eventfd
  std::unique_ptr<slot[]> slots_;  // of packets; a page is touched when first used
  std::array<std::size_t, slot_count> slot_bytes_{};
  std::array<posted_put, slot_count> posted_{};

  // Positions never wrap: position t uses slot t % slot_count. Slots in [released, sent) belong to
  // the driver and the receiver, the others are free.
  std::atomic<std::uint64_t> unfinished_{0};  // packets not reaped and puts not done: a hint
  base::spinlock lock_;  // the next three: released <= reaped <= sent <= released + slot_count
  std::uint64_t sent_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t reaped_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t released_ HEADWAY_GUARDED_BY(lock_) = 0;
  std::uint64_t posted_sent_ HEADWAY_GUARDED_BY(lock_) = 0;  // done <= sent <= done + slot_count
  std::uint64_t posted_done_ = 0;  // written under the lock by `reap`, which alone reads it without
  std::uint64_t hurried_ HEADWAY_GUARDED_BY(lock_) = 0;  // packets before this one cannot wait
  sleep sleep_ HEADWAY_GUARDED_BY(lock_) = sleep::none;
  bool rang_ HEADWAY_GUARDED_BY(lock_) = false;  // the bell is or will be readable
  bool open_ HEADWAY_GUARDED_BY(lock_) = false;

  std::size_t moved_bytes_ = 0;  // of the oldest posted put; `reap` alone uses it
  last_events last_;             // for `reap` after `close`
};

}  // namespace headway::rails::self
