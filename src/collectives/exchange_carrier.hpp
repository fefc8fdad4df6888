#pragma once

#include "collectives/carrier.hpp"
#include "collectives/schedule.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "progress/engine.hpp"

namespace headway::collectives {

/// The carrier of a real communicator: its collective context and the process's engine.
/// Threads:  any. Both must outlive it.
class exchange_carrier final : public carrier {
 public:
  exchange_carrier(messages::exchange& exchange, messages::context& where) noexcept
      : exchange_(exchange), engine_(exchange.engine()), where_(where) {}

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
  [[nodiscard]] bool lost(int rank) const noexcept override {
    return where_.ranks[static_cast<std::size_t>(rank)]->lost();
  }
  void wait(progress::completion& what) noexcept override { engine_.wait(what); }
  void pending_started() noexcept override { engine_.pending_started(); }
  void pending_ended() noexcept override { engine_.pending_ended(); }

 private:
  messages::exchange& exchange_;
  progress::engine& engine_;
  messages::context& where_;
};

}  // namespace headway::collectives
