#pragma once

#include <mpi.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "base/assert.hpp"
#include "collectives/settings.hpp"
#include "messages/exchange.hpp"
#include "progress/core/engine.hpp"
#include "report/settings.hpp"
#include "runtime/instance.hpp"

namespace headway::mpi {

class communicator;

/// The settings of this module; those of the modules below are in runtime/settings.hpp.
struct settings {
  bool check_arguments = true;  ///< HEADWAY_CHECKS
  report::settings report = {};

  [[nodiscard]] static settings from_environment();
};

/// The state of the MPI library in this process: whether it is started, and the objects that calls
/// use. The modules below have no such global state.
/// Threads:  written by start and end, during which the program makes no other call; read by all.
struct library {
  enum class phase : std::uint8_t { before, running, over };
  /// What an entry point does with a call: allowed after MPI_Init or while a session is open.
  enum class call_mode : std::uint8_t { refused, plain, recorded };

  std::atomic<call_mode> calls{call_mode::refused};
  std::atomic<phase> world_is{phase::before};  ///< MPI_Init and MPI_Finalize
  std::atomic<bool> checks{true};
  int sessions = 0;  ///< open sessions
  runtime::instance* runtime = nullptr;
  messages::exchange* messages = nullptr;
  progress::engine* progress = nullptr;
  communicator* job =
      nullptr;  ///< all processes of the job, for the library's use; while `runtime` is up
  communicator* world = nullptr;
  communicator* self = nullptr;
  int thread_level = 0;
  collectives::settings collectives = {};
  pthread_t main_thread = {};
};

extern library the_library;

/// Whether calls are allowed. Relaxed: the program orders its calls after MPI_Init or
/// MPI_Session_init.
[[nodiscard]] inline bool running() noexcept {
  return the_library.calls.load(std::memory_order_relaxed) != library::call_mode::refused;
}
/// What an entry point asks first. Relaxed: as `running`.
[[nodiscard]] inline library::call_mode calls_are() noexcept {
  return the_library.calls.load(std::memory_order_relaxed);
}
/// Whether calls are recorded (HEADWAY_REPORT). Relaxed: as `running`.
[[nodiscard]] inline bool recording() noexcept {
  return the_library.calls.load(std::memory_order_relaxed) == library::call_mode::recorded;
}
[[nodiscard]] inline bool checks_on() noexcept {
  return the_library.checks.load(std::memory_order_relaxed);  // a setting, carries no data
}
[[nodiscard]] inline messages::exchange& exchange() noexcept {
  HEADWAY_DEBUG_ASSERT(the_library.messages != nullptr);
  return *the_library.messages;
}
[[nodiscard]] inline progress::engine& engine() noexcept {
  HEADWAY_DEBUG_ASSERT(the_library.progress != nullptr);
  return *the_library.progress;
}
/// The index of this process. Only while the runtime is up.
[[nodiscard]] inline processes::peer_id this_process() noexcept {
  HEADWAY_DEBUG_ASSERT(the_library.runtime != nullptr);
  return (*the_library.runtime->job_members())[the_library.runtime->rank()];
}

/// At most one thread at a time is in an MPI call: the thread level is MPI_THREAD_SERIALIZED or
/// lower (MPI-5, section 11.6), and no session is open, whose level may be higher.
[[nodiscard]] inline bool calls_are_serialized() noexcept {
  return the_library.sessions == 0 && the_library.thread_level < MPI_THREAD_MULTIPLE;
}

/// MPI_Init: starts the runtime, makes MPI_COMM_WORLD and MPI_COMM_SELF. An MPI error code.
[[nodiscard]] int open_world(int thread_level);
/// MPI_Finalize: stops the runtime when no session is open. Waits for the other processes.
[[nodiscard]] int close_world();
/// The same for a session. A runtime can be started only once in a process, so it stays up after
/// the last session until MPI_Finalize or exit: another session may be opened.
[[nodiscard]] int open_session();
[[nodiscard]] int close_session();

/// Prints one line and ends the job. May be called at any time.
[[noreturn]] void end_job(int exit_code, const std::string& why) noexcept;

}  // namespace headway::mpi
