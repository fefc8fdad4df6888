#pragma once

#include <atomic>

/// What an entry point for another language tells of the calls of MPI that it makes. Both are null
/// if calls are not recorded.
/// Shape:    exported by libmpi_abi beside the functions of MPI; other libraries have neither.
/// Threads:  any; set before a call is recorded, and then never changed.
extern "C" {

/// The next call of this thread counts as made from `where`.
[[gnu::visibility("default")]] extern std::atomic<void (*)(const void* where)> headway_called_from;

/// Replaces what records the calls of this thread, and returns what did so far. Null: they are the
/// library's own, and do not count.
[[gnu::visibility("default")]] extern std::atomic<void* (*)(void* next)> headway_exchange_recorder;
}
