/// What the kernel alone takes for what one-sided operations need: the least that a library can
/// take that has no other way to the target.
#pragma once

/// Prepares an exchange of 64 bytes over a TCP connection between ranks 0 and 1. Collective; errors
/// end the program with a message.
void floor_exchange_open(int rank);
/// Rank 0: sends 64 bytes and spins until as many have come back.
void floor_exchange(void);
/// Rank 0: after the last exchange, for `floor_serve_spinning` and `floor_serve_asleep`.
void floor_exchange_end(void);
/// Rank 1: answers, and spins until the next bytes come. Returns at the end.
void floor_serve_spinning(void);
/// Rank 1: starts a thread that answers and sleeps until the next bytes come; it asks for short
/// slices, as a progress thread would. It ends itself.
void floor_serve_asleep(void);

/// Prepares writes of 8 bytes to `there` of rank 1, a process of the same machine. Collective.
void floor_write_open(int rank, void* there);
/// Rank 0: one call of the kernel, which writes them.
void floor_write(void);
