#pragma once

#include <mpi.h>

#include "messages/exchange.hpp"
#include "mpi/objects/object.hpp"
#include "progress/completion/completion.hpp"
#include "report/recorder.hpp"

namespace headway::mpi {

class communicator;

/// An MPI request: an operation under way, or a persistent one between two starts.
///
/// Shape:    an implementation is `final` and has its own `pool`, to which `release` returns it.
/// Threads:  one thread at a time for each request, as the standard requires of the program; what
///           `pending` points to is completed by any thread.
/// Progress: no function waits but those that say so; the caller waits for `*pending`.
/// Errors:   `finish` returns the operation's MPI error code and may `fail_on(comm, …)`.
class request : public object {
 public:
  using handle = MPI_Request;
  static constexpr object_kind object_kind_of = object_kind::request;
  static constexpr std::uintptr_t null_value = 0x180;

  /// Whether it is complete, or a persistent request that was not started.
  [[nodiscard]] bool is_complete() const noexcept { return !pending || pending->test(); }

  /// Fills the status of a complete request and returns its error code. May be called again
  /// (MPI_Request_get_status).
  virtual int finish(MPI_Status& status) = 0;
  /// Ends a complete, active request: `finish`, then makes it inactive if it is persistent, and
  /// frees it if it is not. Returns the operation's error code.
  virtual int conclude(MPI_Status& status);
  /// Starts a persistent operation.
  virtual int start() { return MPI_ERR_REQUEST; }
  /// MPI_Cancel; no effect on an operation that cannot be cancelled.
  virtual int cancel() { return MPI_SUCCESS; }
  /// MPI_Request_free before it is complete: it goes on, and is freed some time after its end.
  [[nodiscard]] virtual bool may_be_abandoned() const noexcept { return true; }
  /// Called once, after `finish`, before the handle is freed: a generalised request's free
  /// function.
  virtual int leave() { return MPI_SUCCESS; }
  /// Frees the request, which is complete or inactive.
  virtual void release() noexcept = 0;

  /// A recorded call is about to wait: is the wait `brief` (recorded_messages.hpp)?
  [[nodiscard]] virtual bool waits_briefly() const noexcept { return false; }
  /// A recorded call has waited for this.
  virtual void note_wait(const report::wait_span&) noexcept {}

  progress::completion* pending = nullptr;  ///< what to wait for; null: nothing
  communicator* comm = nullptr;             ///< its error handler is called
  bool persistent = false;                  ///< becomes inactive, not freed, when it is complete
  bool active = true;                       ///< started and not yet waited for

 protected:
  /// The error handler of a failed operation is its communicator's, not the one of the call that
  /// waits for it.
  void name_owner_of_failure() const noexcept;
};

/// A message taken out of the matching by MPI_Mprobe, until it is received.
class message final : public object {
 public:
  using handle = MPI_Message;
  static constexpr object_kind object_kind_of = object_kind::message;
  static constexpr std::uintptr_t null_value = 0x128;

  messages::unexpected_message* unexpected = nullptr;  ///< null: MPI_MESSAGE_NO_PROC
  messages::arrival arrival;
  communicator* comm = nullptr;
};

}  // namespace headway::mpi
