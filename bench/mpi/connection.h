/// A TCP connection between ranks 0 and 1, without the library that is measured. Errors of all
/// functions end the program on all ranks with a message.
#pragma once

#include <netinet/in.h>
#include <stddef.h>

/// Connects the two ranks over the first interface that is not the loopback. Returns the
/// descriptor. Collective.
int connect_ranks(int rank);
/// The same over IPPROTO_TCP or IPPROTO_MPTCP, where rank 1 listens at its address `own`.
int connect_ranks_at(int rank, int protocol, struct in_addr own);

void send_all(int fd, const void* from, size_t bytes);
/// `flags` of `recv`: with MSG_DONTWAIT it spins until all has come.
void receive_all(int fd, void* into, size_t bytes, int flags);

/// Prints what failed, with the reason that `errno` has, and ends the program.
void connection_failed(const char* what);
