/// Bytes both ways over one TCP connection between two ranks, by a thread of its own and no
/// library: what the network and the kernel alone take of a computation beside it.
#pragma once

#include <stddef.h>

/// Connects ranks 0 and 1 over the first interface that is no loopback. Collective; errors end the
/// program with a message.
void sockets_open(int rank);
/// Has the thread send `bytes` and take as many in. One at a time; both ranks.
void sockets_start(const void* from, void* into, size_t bytes);
void sockets_wait(void);
