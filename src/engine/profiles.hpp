#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway::engine {

/// This host as profiles name it.
[[nodiscard]] std::string own_host();
/// What a rail's profile depends on: "1000 Mbit/s, mtu 1500" of its interface, as far as the kernel
/// knows it.
[[nodiscard]] std::string hardware_of(std::string_view rail);
/// Since 1970, as profiles are dated.
[[nodiscard]] std::uint64_t seconds_now();

}  // namespace headway::engine
