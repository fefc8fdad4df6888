#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "base/intrusive_list.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "messages/request.hpp"
#include "mpi/point_to_point/buffer_place.hpp"
#include "mpi/point_to_point/message_request.hpp"
#include "progress/completion/completion.hpp"

namespace headway::mpi {

/// Memory that a program attached for buffered sends. MPI_BUFFER_AUTOMATIC: the library allocates
/// it for each message.
/// Shape:    a message takes the first gap that it fits into; without one the send fails, as the
///           standard requires. The list of messages under way allocates.
/// Threads:  any; a lock, under which no thread waits for messages.
/// Progress: `send` and `notify` never wait. `flush` and `close` wait for the messages that are in
///           the buffer when they begin; other threads may send from it meanwhile.
class send_buffer {
 public:
  /// A thread or a request that waits for the messages of a buffer. Must live until it is done.
  struct waiter : base::list_hook<> {
    progress::completion done;
    std::uint64_t serial = 0;  // waits for messages with lower ones …
    std::size_t missing = 0;   // … so many
  };

  send_buffer(void* memory, std::int64_t bytes) noexcept : memory_(memory), bytes_(bytes) {}
  ~send_buffer();
  send_buffer(const send_buffer&) = delete;
  send_buffer& operator=(const send_buffer&) = delete;

  [[nodiscard]] void* memory() const noexcept { return memory_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return is_automatic() ? 0 : bytes_; }

  /// Packs the data of `call`, which has this layout, and sends the copy. An MPI error code.
  [[nodiscard]] int send(const datatypes::layout& layout, const message_call& call);
  void flush() noexcept;
  /// The same, and a later `send`, of a thread that found the buffer before, fails.
  void close() noexcept;

  /// Completes `by.done` when the messages that are in the buffer now have left it.
  void notify(waiter& by) noexcept;

 private:
  struct under_way {
    messages::request wire;
    send_buffer* home = nullptr;  // null once it has left; under the home's waiters_lock_
    std::uint64_t serial = 0;
    std::size_t offset = 0, bytes = 0;
    std::unique_ptr<std::byte[]> own;  // the copy, if the buffer is automatic
  };
  [[nodiscard]] bool is_automatic() const noexcept { return memory_ == MPI_BUFFER_AUTOMATIC; }
  [[nodiscard]] std::optional<std::size_t> find_gap(std::size_t bytes) const
      HEADWAY_REQUIRES(lock_);
  void reap() HEADWAY_REQUIRES(lock_);
  static bool on_sent(messages::request& done) noexcept;

  void* memory_;
  std::int64_t bytes_;
  base::mutex lock_;          // taken before waiters_lock_
  base::mutex waiters_lock_;  // also taken by message completion
  bool closed_ HEADWAY_GUARDED_BY(lock_) = false;
  std::list<under_way> messages_ HEADWAY_GUARDED_BY(lock_);  // not sorted by offset
  std::uint64_t next_serial_ HEADWAY_GUARDED_BY(lock_) = 0;
  base::intrusive_list<waiter> waiters_ HEADWAY_GUARDED_BY(waiters_lock_);
};

/// The place of MPI_Buffer_attach.
[[nodiscard]] buffer_place& process_buffer() noexcept;
/// The buffer that a send on `comm` uses: the communicator's own, that of the session that it is
/// made of, or the process's. May be null.
[[nodiscard]] std::shared_ptr<send_buffer> buffer_for(const communicator& comm);
[[nodiscard]] std::shared_ptr<send_buffer> make_buffer(void* memory, std::int64_t bytes);
/// For MPI_Finalize: waits until all messages in buffers are sent.
void flush_all_buffers() noexcept;

}  // namespace headway::mpi
