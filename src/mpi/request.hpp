#pragma once

#include <mpi.h>

#include "messages/exchange.hpp"
#include "mpi/object.hpp"
#include "progress/completion.hpp"

namespace headway::mpi {

class communicator;

/// An operation under way, or a persistent one between two of its runs.
///
/// Shape:    an implementation is `final` and lives in its own `pool` (`release` gives it back).
/// Threads:  one thread at a time for each request, as the standard asks of the program; what
///           `pending` points to is completed by any thread.
/// Progress: no function waits but those that say so; the caller waits for `*pending`.
/// Errors:   `finish` returns the operation's MPI error code and may `fail_on(comm, …)`.
class request : public object {
 public:
  using handle = MPI_Request;
  static constexpr object_kind object_kind_of = object_kind::request;
  static constexpr std::uintptr_t null_value = 0x180;

  /// Complete, or a persistent request that was not started.
  [[nodiscard]] bool is_complete() const noexcept { return !pending || pending->test(); }

  /// Complete: fills `status` and tells how it ended. May be called again (Request_get_status).
  virtual int finish(MPI_Status& status) = 0;
  /// Runs a persistent operation again.
  virtual int start() { return MPI_ERR_REQUEST; }
  /// MPI_Cancel; an operation that cannot be cancelled goes on.
  virtual int cancel() { return MPI_SUCCESS; }
  /// Once, behind `finish`, when the handle goes: what the program wants to happen then.
  virtual int leave() { return MPI_SUCCESS; }
  /// Gives the memory back; complete or inactive.
  virtual void release() noexcept = 0;

  progress::completion* pending = nullptr;  ///< what to wait for; null: nothing to wait for
  communicator* comm = nullptr;             ///< whose error handler hears of it
  bool persistent = false;                  ///< stays, inactive, when it is complete
  bool active = true;                       ///< started and not yet waited for
};

/// A message taken out of the matching by MPI_Mprobe, until it is received.
class message final : public object {
 public:
  using handle = MPI_Message;
  static constexpr object_kind object_kind_of = object_kind::message;
  static constexpr std::uintptr_t null_value = 0x128;

  messages::parked* parked = nullptr;  ///< null: MPI_MESSAGE_NO_PROC
  messages::arrival arrival;
  communicator* comm = nullptr;
};

}  // namespace headway::mpi
