#pragma once

#include <cstddef>
#include <span>

#include "messages/numbers.hpp"
#include "messages/operation_log.hpp"
#include "messages/request.hpp"
#include "progress/completion/completion.hpp"

namespace headway::collectives {

class schedule_run;
class shared_banks;

/// What a schedule needs of the modules below: messages between the ranks of one team, and a
/// progress engine. Every function is required; shared memory is a separate, optional capability
/// (shared_memory.hpp). Small, so that tests can run all ranks in one thread.
/// Threads:  any.
/// Progress: only `wait` waits. A request ends by `messages::request::finish`, possibly before the
///           function that took it returns.
/// Errors:   as messages::exchange reports them, in `request::arrived.how`.
class transport {
 public:
  /// `data` must stay unchanged until `r` is complete.
  virtual void send(messages::request& r, std::span<const std::byte> data, int destination,
                    messages::label as) noexcept = 0;
  /// Instead of a message of `due_bytes`, sends one that ends its receive with an error: with `why`
  /// if the transport can transmit that, else by a length that is not `due_bytes`. Sends nothing
  /// if the log is broken: each rank is told of that by itself, with the reason.
  virtual void send_failure(messages::request& r, messages::outcome why, std::size_t due_bytes,
                            int destination, messages::label as) noexcept = 0;
  virtual void receive(messages::request& r, std::span<std::byte> buffer, int source,
                       messages::label as) noexcept = 0;
  /// Of the operations of the team. The same object whenever it is asked for.
  [[nodiscard]] virtual messages::operation_log& log() noexcept = 0;
  /// The process of that rank is known to be dead.
  [[nodiscard]] virtual bool lost(int rank) const noexcept = 0;
  /// Has `ready.take_turn()` called soon by `ready`'s ltask, at some polling point.
  virtual void submit(schedule_run& ready) noexcept = 0;
  /// Has `pending.poll()` called at every polling point, until it answers `done`. See
  /// `progress::engine::submit_signalled`.
  virtual void submit(shared_banks& pending) noexcept = 0;
  /// See `progress::engine::look_now`.
  virtual void look_now() noexcept = 0;
  virtual void wait(progress::completion& what) noexcept = 0;
  /// See `progress::engine::begin_lone_spin`.
  [[nodiscard]] virtual bool begin_lone_spin() noexcept = 0;
  virtual void end_lone_spin() noexcept = 0;
  /// A schedule that no thread waits for has started or ended: background progression is needed in
  /// between.
  virtual void pending_started() noexcept = 0;
  virtual void pending_ended() noexcept = 0;
  /// See `progress::engine::rely`.
  virtual void rely() noexcept = 0;
  virtual void rely_no_more() noexcept = 0;

 protected:
  ~transport() = default;
};

/// A message whose length is not `due_bytes`: for `transport::send_failure`.
[[nodiscard]] inline std::span<const std::byte> wrong_length(std::size_t due_bytes) noexcept {
  static constexpr std::byte one_byte{};
  return due_bytes == 0 ? std::span(&one_byte, 1) : std::span<const std::byte>{};
}

}  // namespace headway::collectives
