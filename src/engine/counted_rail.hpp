#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "base/spinlock.hpp"
#include "rails/driver.hpp"
#include "rails/neighbours.hpp"

namespace headway::engine {

/// What went over a rail. `bytes_overlap`: of both directions, what threads of ours sent, took in
/// or saw through to its end, hence while no call of the program waited.
struct rail_count {
  std::uint64_t packets_out = 0, bytes_out = 0, packets_in = 0, bytes_in = 0, bytes_overlap = 0;
};

/// Counts what goes through another driver, where HEADWAY_STATS asks: no rail counts by itself.
/// Threads:  as any driver; `count` any thread. Counters are relaxed: they carry nothing.
/// Progress: as the driver within.
class counted_rail final : public rails::driver, private rails::neighbours {
 public:
  explicit counted_rail(std::unique_ptr<driver> inner) noexcept
      : inner_(std::move(inner)), always_done_max_(inner_->query().inline_bytes_max) {}

  [[nodiscard]] rail_count count() const noexcept;

  [[nodiscard]] rails::limits query() const noexcept override { return inner_->query(); }
  [[nodiscard]] base::result<std::vector<std::byte>> open() override { return inner_->open(); }
  [[nodiscard]] base::result<> connect(rails::peer_id peer,
                                       std::span<const std::byte> address) override {
    return inner_->connect(peer, address);
  }
  [[nodiscard]] rails::post send(rails::peer_id peer, const rails::packet& what) noexcept override;
  [[nodiscard]] bool land(rails::peer_id peer, rails::landing_id id,
                          std::span<std::byte> target) noexcept override {
    return inner_->land(peer, id, target);
  }
  void unland(rails::landing_id id) noexcept override { inner_->unland(id); }
  [[nodiscard]] std::size_t reap(std::span<rails::event> out) noexcept override;
  void release(const rails::event& received) noexcept override { inner_->release(received); }
  [[nodiscard]] int descriptor() const noexcept override { return inner_->descriptor(); }
  [[nodiscard]] bool arm(bool sleeping) noexcept override { return inner_->arm(sleeping); }
  void tick(std::uint64_t now_ns) noexcept override { inner_->tick(now_ns); }
  void sever(rails::peer_id peer) noexcept override { inner_->sever(peer); }
  void revive(rails::peer_id peer) noexcept override { inner_->revive(peer); }
  [[nodiscard]] std::uint64_t heard_ns(rails::peer_id peer) noexcept override {
    return inner_->heard_ns(peer);
  }
  [[nodiscard]] rails::board* shared_board() noexcept override { return inner_->shared_board(); }
  [[nodiscard]] rails::neighbours* memory_nearby() noexcept override {
    return inner_->memory_nearby() ? this : nullptr;
  }
  void close() noexcept override { inner_->close(); }

 private:
  [[nodiscard]] bool reaches(rails::peer_id peer) noexcept override;
  [[nodiscard]] bool read(rails::peer_id peer, std::uint64_t from,
                          std::span<std::byte> to) noexcept override;
  [[nodiscard]] bool write(rails::peer_id peer, std::uint64_t to,
                           std::span<const std::byte> from) noexcept override;

  void count_out(std::uint64_t bytes) noexcept;
  /// A posted payload has been sent. Its bytes; 0 for one that is not among the posted.
  [[nodiscard]] std::uint64_t take_posted(std::uint64_t cookie) noexcept;

  std::unique_ptr<driver> inner_;
  const std::size_t always_done_max_;
  base::spinlock posted_lock_;  // guards the next; not held across calls of the inner driver
  std::unordered_map<std::uint64_t, std::uint64_t> posted_;               // bytes, by cookie
  alignas(64) std::atomic<std::uint64_t> packets_out_{0}, bytes_out_{0};  // several senders
  alignas(64) std::atomic<std::uint64_t> packets_in_{0}, bytes_in_{0}, bytes_overlap_{0};
};

}  // namespace headway::engine
