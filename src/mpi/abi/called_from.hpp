#pragma once

#include <atomic>

/// Called by an entry point for another language before it makes its call of MPI, with the address
/// that it returns to: the call counts as made from there. Null: calls are not recorded.
/// Shape:    exported by libmpi_abi beside the functions of MPI; another library does not have it.
/// Threads:  any; set before a call is recorded, and then never changed.
extern "C" [[gnu::visibility("default")]] std::atomic<void (*)(const void* where)>
    headway_called_from;
