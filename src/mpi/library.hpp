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

  std::atomic<phase> now{phase::before};
  std::atomic<bool> checks{true};
  engine::runtime* runtime = nullptr;
  messages::exchange* messages = nullptr;
  progress::engine* progress = nullptr;
  communicator* world = nullptr;
  communicator* self = nullptr;
  int thread_level = 0;
  pthread_t main_thread = {};
};

extern library the_library;

/// Between initialisation and finalisation. Relaxed: the program orders its calls after MPI_Init.
[[nodiscard]] inline bool running() noexcept {
  return the_library.now.load(std::memory_order_relaxed) == library::phase::running;
}
[[nodiscard]] inline bool checks_on() noexcept {
  return the_library.checks.load(std::memory_order_relaxed);  // a setting, carries no data
}
[[nodiscard]] inline messages::exchange& exchange() noexcept { return *the_library.messages; }
[[nodiscard]] inline progress::engine& engine() noexcept { return *the_library.progress; }

/// Starts the runtime if it is not up. An MPI error code.
[[nodiscard]] int start_runtime();
/// MPI_Init: starts the runtime, makes MPI_COMM_WORLD and MPI_COMM_SELF. An MPI error code.
[[nodiscard]] int start_library(int thread_level);
/// MPI_Finalize: waits for the other ranks, then takes everything down. An MPI error code.
[[nodiscard]] int stop_library();

/// Prints one line and ends the job; in any phase.
[[noreturn]] void end_job(int exit_code, const std::string& why) noexcept;

}  // namespace headway::mpi
