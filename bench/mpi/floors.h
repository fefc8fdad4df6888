/// What the kernel alone takes for what one-sided operations need: the least that a library can
/// take that has no other way to the target. Rank 0 is the origin, rank 1 the target; errors end
/// the program with a message.
#pragma once

#include <stdbool.h>

/// Prepares an exchange of 64 bytes over a TCP connection. Collective.
void floor_exchange_open(int rank);
/// Rank 0: sends 64 bytes and spins until as many have come back.
void floor_exchange(void);
/// Rank 0: ends what rank 1 does in `floor_exchange_serve`.
void floor_exchange_end(void);
/// Rank 1: answers exchanges. A target that waits spins in `recv`, until the end. One that computes
/// starts a thread that sleeps in `recv` and asks for short slices, as a progress thread would.
void floor_exchange_serve(bool computing);

/// Prepares writes of 8 bytes to `there` of rank 1, a process of the same machine. Collective.
void floor_write_open(int rank, void* there);
/// Rank 0: one system call, which writes them.
void floor_write(void);
