#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "engine/runtime.hpp"
#include "messages/exchange.hpp"
#include "progress/engine.hpp"

namespace headway::mpi {

class communicator;

/// Where in its life the library is, and the parts that a call needs.
/// Threads:  written by start and end, which no call may run beside; read by all.
struct library {
  enum class phase : std::uint8_t { before, running, over };

  std::atomic<bool> up{false};  ///< calls may be made: the world or a session is open
  std::atomic<phase> world_is{phase::before};  ///< MPI_Init and MPI_Finalize
  std::atomic<bool> checks{true};
  int sessions = 0;  ///< open ones
  engine::runtime* runtime = nullptr;
  messages::exchange* messages = nullptr;
  progress::engine* progress = nullptr;
  communicator* everyone = nullptr;  ///< all processes, for our own use; while the runtime is up
  communicator* world = nullptr;
  communicator* self = nullptr;
  int thread_level = 0;
  pthread_t main_thread = {};
};

extern library the_library;

/// The world or a session is open. Relaxed: the program orders its calls after what opened it.
[[nodiscard]] inline bool running() noexcept {
  return the_library.up.load(std::memory_order_relaxed);
}
[[nodiscard]] inline bool checks_on() noexcept {
  return the_library.checks.load(std::memory_order_relaxed);  // a setting, carries no data
}
[[nodiscard]] inline messages::exchange& exchange() noexcept { return *the_library.messages; }
[[nodiscard]] inline progress::engine& engine() noexcept { return *the_library.progress; }

/// MPI_Init: starts the runtime, makes MPI_COMM_WORLD and MPI_COMM_SELF. An MPI error code.
[[nodiscard]] int open_world(int thread_level);
/// MPI_Finalize: the last user of the runtime waits for the other ranks and stops it.
[[nodiscard]] int close_world();
/// The same for a session. The runtime can be started once only, so that without MPI_Finalize it
/// stays up until the process exits: another session may come.
[[nodiscard]] int open_session();
[[nodiscard]] int close_session();

/// Prints one line and ends the job; in any phase.
[[noreturn]] void end_job(int exit_code, const std::string& why) noexcept;

}  // namespace headway::mpi
