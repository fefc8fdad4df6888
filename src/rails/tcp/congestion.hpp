#pragma once

namespace headway::rails::tcp {

// The congestion control algorithm of a connection, where the kernel's default is one that paces:
// one that sends at a rate which it has measured, by a timer for each of its bursts (BBR). On a
// network whose round trip is shorter than those bursts this takes most of the time of a large
// message; there the connection uses Reno (docs/decisions/0059-unpaced-connections.md). Another
// default is left alone.

/// For a socket that is new: neither connects nor listens yet. What it accepts inherits the choice.
/// Later would be too late: the kernel goes on pacing what has once been paced.
void use_unpaced(int fd) noexcept;

/// For a connection that has exchanged its handshake: returns to the kernel's default if the peer
/// is far away.
void pace_if_far(int fd) noexcept;

}  // namespace headway::rails::tcp
