#pragma once

#include <cstdint>
#include <span>

#include "collectives/carrier.hpp"
#include "collectives/schedule.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "progress/engine.hpp"
#include "rails/neighbours.hpp"

namespace headway::collectives {

/// The carrier of a real communicator: its collective context and the process's engine.
/// Shape:    `processes` are the ranks'; `nearby` may be null.
/// Threads:  any. What it is made of must outlive it.
class exchange_carrier final : public carrier {
 public:
  exchange_carrier(messages::exchange& exchange, messages::context& where,
                   rails::neighbours* nearby, std::span<const std::uint32_t> processes) noexcept
      : exchange_(exchange),
        engine_(exchange.engine()),
        where_(where),
        nearby_(nearby),
        processes_(processes) {}

  /// Whether the memory of each of the others can be touched from here.
  [[nodiscard]] bool reaches_all() const noexcept {
    if (!nearby_) return false;
    for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank)
      if (rank != where_.self && !nearby_->reaches(process_of(rank))) return false;
    return true;
  }

  void send(messages::request& r, std::span<const std::byte> data, int destination,
            int tag) noexcept override {
    exchange_.send(where_, r, data, destination, tag);
  }
  void give_up(messages::request& r, std::size_t, int destination, int tag) noexcept override {
    exchange_.send(where_, r, {}, destination, tag, messages::send_mode::give_up);
  }
  void receive(messages::request& r, std::span<std::byte> room, int source,
               int tag) noexcept override {
    exchange_.receive(where_, r, room, source, tag);
  }
  void submit(schedule& ready) noexcept override { engine_.submit(ready.task()); }
  [[nodiscard]] bool read(int rank, std::uint64_t from, std::span<std::byte> to) noexcept override {
    return nearby_->read(process_of(rank), from, to);
  }
  [[nodiscard]] bool write(int rank, std::uint64_t to,
                           std::span<const std::byte> from) noexcept override {
    return nearby_->write(process_of(rank), to, from);
  }
  [[nodiscard]] bool lost(int rank) const noexcept override {
    return where_.ranks[static_cast<std::size_t>(rank)]->lost();
  }
  void wait(progress::completion& what) noexcept override { engine_.wait(what); }
  void pending_started() noexcept override { engine_.pending_started(); }
  void pending_ended() noexcept override { engine_.pending_ended(); }

 private:
  [[nodiscard]] rails::peer_id process_of(int rank) const noexcept {
    return rails::peer_id{processes_[static_cast<std::size_t>(rank)]};
  }

  messages::exchange& exchange_;
  progress::engine& engine_;
  messages::context& where_;
  rails::neighbours* nearby_;
  std::span<const std::uint32_t> processes_;
};

}  // namespace headway::collectives
