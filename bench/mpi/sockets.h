/// Moves bytes both ways over one TCP connection between two ranks, in a separate thread and
/// without a library: how much the network and the kernel alone slow down a concurrent computation.
#pragma once

#include <stddef.h>

/// Connects ranks 0 and 1 (`connect_ranks`). Collective.
void sockets_open(int rank);
/// Makes the thread send `bytes` and receive as many. One transfer at a time; both ranks call it.
void sockets_start(const void* from, void* into, size_t bytes);
void sockets_wait(void);
