#pragma once

namespace headway::rails::tcp {

// Which congestion control algorithm a connection uses. BBR sends at a rate which it has measured,
// and starts a timer for each burst: it paces. Where the round trip is short, these timers take
// most of the time of a large message (docs/decisions/0059-unpaced-connections.md). So where the
// kernel's default is BBR, connections with a round trip of at most 1 ms use Reno. Any other
// default is kept.
//
// Threads:  any, one at a time for a descriptor.
// Progress: some system calls, none of which waits.
// Errors:   none: if the kernel refuses an algorithm, the connection keeps the one it has.

/// For a new socket, before it connects or listens; connections that it accepts inherit the choice.
/// It must be so early because the kernel does not stop pacing when the algorithm changes.
void use_unpaced(int fd) noexcept;

/// For a connection whose handshake is complete: returns to the kernel's default if the shortest
/// round trip so far is longer than 1 ms, or was not measured.
void pace_if_far(int fd) noexcept;

}  // namespace headway::rails::tcp
