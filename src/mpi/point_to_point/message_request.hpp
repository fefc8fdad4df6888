#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "datatypes/layout.hpp"
#include "messages/exchange.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/point_to_point/recorded_messages.hpp"
#include "mpi/point_to_point/request.hpp"
#include "mpi/point_to_point/scattered_data.hpp"

namespace headway::mpi {

enum class message_mode : std::uint8_t { standard, synchronous, ready, buffered, receive };

/// The arguments of a point-to-point call: the data and the rank of the other process.
struct message_call {
  void* buffer = nullptr;  ///< sends only read it
  std::int64_t count = 0;
  const datatype* type = nullptr;
  int peer = MPI_PROC_NULL;
  int tag = 0;
  communicator* comm = nullptr;
  message_mode mode = message_mode::standard;
};
[[nodiscard]] std::size_t bytes_of(const message_call& call) noexcept;

/// A non-blocking or persistent send or receive.
/// Shape:    from a free list of the calling thread; data that is not one block is packed and
///           unpacked in pieces (scattered_data).
/// Threads:  see `request`.
class message_request final : public request {
 public:
  using searched = void;  // for `uses`, see objects/pool.hpp

  message_request() noexcept { wire_.reclaims = true; }
  [[nodiscard]] static message_request& take();
  void release() noexcept override;

  /// Starts the operation. `finish` returns errors of the message itself.
  [[nodiscard]] int begin(const message_call& call);
  /// Keeps the arguments for `start`.
  void prepare(const message_call& call);
  int start() override;
  int finish(MPI_Status& status) override;
  int conclude(MPI_Status& status) override;
  int cancel() override;

  [[nodiscard]] bool waits_briefly() const noexcept override;
  void note_wait(const report::wait_span& waited) noexcept override;

  /// Receives a message that a matched probe took.
  [[nodiscard]] int begin_unexpected(const message_call& call,
                                     messages::unexpected_message* unexpected);

  /// Whether this is a request on that communicator, for MPI_Comm_free. [any thread]
  [[nodiscard]] bool uses(const communicator& which) const noexcept {
    return used_.load(std::memory_order_relaxed) == &which;  // compared, never followed
  }

 private:
  friend struct request_cache;
  friend int start_message(const message_call& call, request*& made);

  // The steps of one message, in one function where a call starts or ends a request.
  [[nodiscard]] static message_request& take_now();
  void prepare_now(const message_call& call);
  [[nodiscard]] int start_now();
  [[nodiscard]] int finish_now(MPI_Status& status);
  void release_now() noexcept;
  void run() noexcept;
  void run_scattered() noexcept;
  [[gnu::cold]] void begin_recording() noexcept;
  [[nodiscard]] recorded_message recorded() const noexcept {
    return {.comm = *comm, .peer = peer_, .tag = tag_, .wire = wire_};
  }
  [[gnu::cold]] void file() noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return plain_ ? bytes_ : scattered_->bytes(); }

  messages::request wire_;
  std::atomic<const communicator*> used_{nullptr};  // a copy of `comm` for other threads
  message_request* next_free_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::int64_t count_ = 0;
  void* buffer_ = nullptr;
  int peer_ = MPI_PROC_NULL;
  int tag_ = 0;
  message_mode mode_ = message_mode::standard;
  bool plain_ = true;             // the data is [data_, bytes_); otherwise one of the following
  datatypes::layout_ptr layout_;  // of a buffered send
  std::optional<scattered_data> scattered_;
  std::unique_ptr<operation_record> record_;  // since the first recorded use
};

/// Sends a small message in standard mode, whose data is one block, without a request, if it can
/// leave at once. False: it was not sent.
[[nodiscard, gnu::hot]] bool sent_at_once(const message_call& call) noexcept;
/// The forms of a send: blocking, non-blocking, persistent (not started); the last two also of a
/// receive. An MPI error code. A blocking call has its request on the stack, and allocates nothing
/// for data in one block.
[[nodiscard, gnu::hot]] int run_message(const message_call& call);
[[nodiscard, gnu::hot]] int start_message(const message_call& call, request*& made);
[[nodiscard]] int prepare_message(const message_call& call, request*& made);
/// MPI_Recv.
[[nodiscard, gnu::hot]] int receive_and_wait(const message_call& call, MPI_Status* status);
/// MPI_Sendrecv: starts the send, receives, and waits for the send.
[[nodiscard]] int send_and_receive(const message_call& send, const message_call& receive,
                                   MPI_Status* status);
/// MPI_Recv of a message that a matched probe took.
[[nodiscard]] int receive_unexpected_and_wait(const message_call& call,
                                              messages::unexpected_message* unexpected,
                                              MPI_Status* status);

/// The MPI error code of a completed message. If it failed, sets the thread's last failure.
[[nodiscard]] int code_of(const messages::arrival& end, const communicator& comm, bool receive);

/// Converts MPI_ANY_TAG (-2) to messages::any_tag (-1).
[[nodiscard]] inline int wire_tag(int tag) noexcept {
  return tag == MPI_ANY_TAG ? messages::any_tag : tag;
}

}  // namespace headway::mpi
