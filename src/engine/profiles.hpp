#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/doors.hpp"
#include "sampling/profile.hpp"

namespace headway::engine {

/// This host as profiles name it.
[[nodiscard]] std::string own_host();
/// What a rail's profile depends on: "1000 Mbit/s, mtu 1500" of its interface, as far as the kernel
/// knows it.
[[nodiscard]] std::string hardware_of(std::string_view rail);
/// Since 1970, as profiles are dated.
[[nodiscard]] std::uint64_t seconds_now();

/// What the user's cache folder knows of the rail from this host to `there`, of a second or further
/// connection what it knows of the first. What cannot be used is said in the log.
[[nodiscard]] std::optional<sampling::profile> stored_profile(const std::string& there,
                                                              const std::string& rail);
/// Connections to others over this rail's interface: as HEADWAY_CONNECTIONS says, or as many as the
/// profiles in the cache folder say that pay, to the hosts that they are of.
[[nodiscard]] connection_wishes connections_wished(const std::string& rail);
/// Keeps what transfers over a first connection have taught, unless it is what is stored already. A
/// folder that cannot be written is no reason to trouble a program that ends: it is said at level
/// `info`.
void store_profile(const std::string& there, const std::string& rail,
                   const sampling::profile& learnt);

}  // namespace headway::engine
