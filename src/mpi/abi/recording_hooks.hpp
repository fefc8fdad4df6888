#pragma once

#include <atomic>

/// Entry points for another language (Fortran) call these before they call MPI. Both are null if
/// calls are not recorded.
/// Shape:    exported by libmpi_abi beside the functions of MPI; other libraries have neither.
/// Threads:  any; set before a call is recorded, and then never changed.
extern "C" {

/// The next call of this thread counts as made from `where`.
[[gnu::visibility("default")]] extern std::atomic<void (*)(const void* where)> headway_called_from;

/// Sets the recorder of this thread's calls and returns the one before: `next` is null, for calls
/// that are not to be recorded, or what an earlier call returned.
[[gnu::visibility("default")]] extern std::atomic<void* (*)(void* next)> headway_exchange_recorder;
}
