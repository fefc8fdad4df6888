#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "rails/driver.hpp"
#include "rails/memory.hpp"

namespace headway::runtime {

/// What went over a rail. `bytes_overlap`: of both directions, the bytes that background threads
/// sent, received or completed, so while no call of the program waited.
struct rail_count {
  std::uint64_t packets_out = 0, bytes_out = 0, packets_in = 0, bytes_in = 0, bytes_overlap = 0;
};

/// Wraps a driver and counts what goes through it, for HEADWAY_STATS: rails themselves count
/// nothing.
/// Threads:  as any driver; `count` any thread. Counters are relaxed: they carry no data.
/// Progress: as the inner driver.
class counted_rail final : public rails::driver, private rails::memory {
 public:
  explicit counted_rail(std::unique_ptr<driver> inner) noexcept
      : inner_(std::move(inner)), always_done_max_(inner_->query().inline_bytes_max) {}

  [[nodiscard]] rail_count count() const noexcept;

  [[nodiscard]] rails::limits query() const noexcept override { return inner_->query(); }
  [[nodiscard]] rails::limits packet_limits_to(rails::peer_id peer) const noexcept override {
    return inner_->packet_limits_to(peer);
  }
  [[nodiscard]] base::result<std::vector<std::byte>> open() override { return inner_->open(); }
  [[nodiscard]] base::result<> connect(rails::peer_id peer,
                                       std::span<const std::byte> address) override {
    return inner_->connect(peer, address);
  }
  [[nodiscard]] base::result<> admit(rails::peer_id peer,
                                     std::span<const std::byte> address) override {
    return inner_->admit(peer, address);
  }
  [[nodiscard]] rails::post send(rails::peer_id peer, const rails::packet& what) noexcept override;
  [[nodiscard]] std::size_t reap(std::span<rails::event> out) noexcept override;
  void release(const rails::event& received) noexcept override { inner_->release(received); }
  [[nodiscard]] int descriptor() const noexcept override { return inner_->descriptor(); }
  [[nodiscard]] bool arm(bool sleeping) noexcept override { return inner_->arm(sleeping); }
  [[nodiscard]] bool arm_for_hurried() noexcept override { return inner_->arm_for_hurried(); }
  [[nodiscard]] bool unsent() const noexcept override { return inner_->unsent(); }
  void reclaim(rails::peer_id peer) noexcept override { inner_->reclaim(peer); }
  void tick(std::uint64_t now_ns) noexcept override { inner_->tick(now_ns); }
  [[nodiscard]] rails::health* health() noexcept override { return inner_->health(); }
  [[nodiscard]] rails::shm_slots* slots() noexcept override { return inner_->slots(); }
  [[nodiscard]] rails::memory* memory() noexcept override {
    return inner_->memory() ? this : nullptr;
  }
  void close() noexcept override { inner_->close(); }

 private:
  [[nodiscard]] rails::memory_limits limits_to(rails::peer_id peer) const noexcept override {
    return inner_->memory()->limits_to(peer);
  }
  [[nodiscard]] base::result<rails::ticket> expose(const rails::exposure& what) noexcept override {
    return inner_->memory()->expose(what);
  }
  void withdraw(const rails::ticket& exposed) noexcept override {
    inner_->memory()->withdraw(exposed);
  }
  [[nodiscard]] rails::post put(rails::peer_id peer, const rails::remote_place& to,
                                std::span<const std::byte> from,
                                std::uint64_t cookie) noexcept override;
  [[nodiscard]] rails::post put_lent(rails::peer_id peer, const rails::remote_place& to,
                                     std::span<const std::byte> from,
                                     std::uint64_t cookie) noexcept override;
  [[nodiscard]] rails::post get(rails::peer_id peer, const rails::remote_place& from,
                                std::span<std::byte> to, std::uint64_t cookie) noexcept override;
  [[nodiscard]] rails::post atomic(rails::peer_id peer, const rails::remote_place& at,
                                   const rails::atomic_request& what, std::uint64_t& before,
                                   std::uint64_t cookie) noexcept override {
    return inner_->memory()->atomic(peer, at, what, before, cookie);
  }
  [[nodiscard]] rails::post flush(rails::peer_id peer, std::uint64_t cookie) noexcept override {
    return inner_->memory()->flush(peer, cookie);
  }

  /// Counts what the inner driver sends in `start`: `bytes`, which it may post.
  template <class Start>
  [[nodiscard]] rails::post counted(std::uint64_t bytes, std::uint64_t cookie, bool may_be_posted,
                                    Start&& start) noexcept;
  void count_out(std::uint64_t bytes) noexcept;
  /// A posted payload has been sent: returns its bytes; 0 if it is not among the posted.
  [[nodiscard]] std::uint64_t take_posted(std::uint64_t cookie) noexcept;

  std::unique_ptr<driver> inner_;
  const std::size_t always_done_max_;
  base::mutex posted_lock_;  // its table allocates; not held across calls of the inner driver
  std::unordered_map<std::uint64_t, std::uint64_t> posted_  // bytes, by cookie
      HEADWAY_GUARDED_BY(posted_lock_);
  alignas(64) std::atomic<std::uint64_t> packets_out_{0}, bytes_out_{0};  // several senders
  alignas(64) std::atomic<std::uint64_t> packets_in_{0}, bytes_in_{0}, bytes_overlap_{0};
};

}  // namespace headway::runtime
