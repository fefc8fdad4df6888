/// A TCP connection between two ranks, without the library that is measured.
#pragma once

/// Connects ranks 0 and 1 over the first interface that is not the loopback.
/// Returns the descriptor. Collective; errors end the program with a message.
int tcp_line(int rank);
/// Ends the program on all ranks; prints what failed, with the reason that `errno` has.
void tcp_line_failed(const char* what);
