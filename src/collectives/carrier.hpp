#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "messages/request.hpp"
#include "progress/completion.hpp"

namespace headway::collectives {

class schedule;

/// What a collective operation needs of the rooms below it: messages within one communicator's
/// collective context, and an engine. Small, so that tests can run all ranks in one thread.
/// Threads:  any.
/// Progress: only `wait` waits.
/// Errors:   as messages::exchange reports them, in `request::arrived.how`.
class carrier {
 public:
  virtual void send(messages::request& r, std::span<const std::byte> data, int destination,
                    int tag) noexcept = 0;
  /// Tells the receiver of a message of `due_bytes`, by another size, that it will not come.
  void send_undue(messages::request& r, std::size_t due_bytes, int destination, int tag) noexcept {
    static constexpr std::byte one_byte{};
    send(r, due_bytes == 0 ? std::span(&one_byte, 1) : std::span<const std::byte>{}, destination,
         tag);
  }
  /// The same because a process is lost; where that can be said, the receive ends as `peer_lost`.
  virtual void give_up(messages::request& r, std::size_t due_bytes, int destination,
                       int tag) noexcept {
    send_undue(r, due_bytes, destination, tag);
  }
  virtual void receive(messages::request& r, std::span<std::byte> room, int source,
                       int tag) noexcept = 0;
  /// Has `ready.take_turn()` called soon, by its ltask, at some polling point.
  virtual void submit(schedule& ready) noexcept = 0;
  /// Copies out of or into the memory of that rank's process, which has said where. False: it
  /// cannot be touched. See team::direct.
  [[nodiscard]] virtual bool read(int rank, std::uint64_t from, std::span<std::byte> to) noexcept {
    (void)rank, (void)from, (void)to;
    return false;
  }
  [[nodiscard]] virtual bool write(int rank, std::uint64_t to,
                                   std::span<const std::byte> from) noexcept {
    (void)rank, (void)to, (void)from;
    return false;
  }
  /// That rank's process is gone.
  [[nodiscard]] virtual bool lost(int rank) const noexcept {
    (void)rank;
    return false;
  }
  virtual void wait(progress::completion& what) noexcept = 0;
  /// A schedule that nobody waits for has begun, or ended: the engine must not be quiet meanwhile.
  virtual void pending_started() noexcept = 0;
  virtual void pending_ended() noexcept = 0;

 protected:
  ~carrier() = default;
};

}  // namespace headway::collectives
