#pragma once

#include <span>

#include "collectives/schedule_run.hpp"
#include "collectives/shared_banks.hpp"
#include "collectives/transport.hpp"
#include "messages/context.hpp"
#include "messages/exchange.hpp"
#include "progress/core/engine.hpp"

namespace headway::collectives {

/// The transport of a communicator: its collective context and the process's engine.
/// Threads:  any. Its arguments must outlive it.
class exchange_transport final : public transport {
 public:
  exchange_transport(messages::exchange& exchange, messages::context& context) noexcept
      : exchange_(exchange), engine_(exchange.engine()), context_(context) {
    messages::exchange::use_expectation(context, [](const void* owner, int source) noexcept {
      return static_cast<const schedule_run*>(owner)->receives_from(source);
    });
  }

  void send(messages::request& r, std::span<const std::byte> data, int destination,
            messages::label as) noexcept override {
    exchange_.send(context_, r, data, destination, as);
  }
  void send_failure(messages::request& r, messages::outcome why, std::size_t due_bytes,
                    int destination, messages::label as) noexcept override {
    if (log().is_broken()) return exchange_.end_unsent(r);
    if (why == messages::outcome::peer_lost)
      exchange_.send(context_, r, {}, destination, as, messages::send_mode::give_up);
    else exchange_.send(context_, r, wrong_length(due_bytes), destination, as);
  }
  void receive(messages::request& r, std::span<std::byte> buffer, int source,
               messages::label as) noexcept override {
    exchange_.receive(context_, r, buffer, source, as);
  }
  [[nodiscard]] messages::operation_log& log() noexcept override {
    return messages::exchange::log_of(context_);
  }
  [[nodiscard]] bool lost(int rank) const noexcept override { return context_.lost(rank); }
  void submit(schedule_run& ready) noexcept override { engine_.submit(ready.task()); }
  void submit(shared_banks& pending) noexcept override { engine_.submit_signalled(pending.task()); }
  void look_now() noexcept override { engine_.look_now(); }
  void wait(progress::completion& what) noexcept override { engine_.wait(what); }
  [[nodiscard]] bool begin_lone_spin() noexcept override { return engine_.begin_lone_spin(); }
  void end_lone_spin() noexcept override { engine_.end_lone_spin(); }
  void pending_started() noexcept override { engine_.pending_started(); }
  void pending_ended() noexcept override { engine_.pending_ended(); }
  void rely() noexcept override { engine_.rely(); }
  void rely_no_more() noexcept override { engine_.rely_no_more(); }

 private:
  messages::exchange& exchange_;
  progress::engine& engine_;
  messages::context& context_;
};

}  // namespace headway::collectives
