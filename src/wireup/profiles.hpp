#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sampling/profile.hpp"
#include "sampling/store.hpp"
#include "wireup/nic_addresses.hpp"

namespace headway::wireup {

/// This host's name in profiles.
[[nodiscard]] std::string own_host();
/// What a rail's profile depends on: "1000 Mbit/s, mtu 1500" of its interface, as far as the kernel
/// reports it.
[[nodiscard]] std::string hardware_of(std::string_view rail);
/// Seconds since 1970, the dates of profiles.
[[nodiscard]] std::uint64_t seconds_now();

/// The profiles of this host's rails, kept in the user's cache folder from one job to the next.
/// Threads:  any.
/// Progress: reads and writes files: not for a polling round.
/// Errors:   profiles that cannot be used are logged and ignored.
class rail_profiles {
 public:
  explicit rail_profiles(sampling::settings how) : store_(std::move(how)) {}

  /// That of the rail from this host to `there`; for a second or further connection, that of the
  /// first.
  [[nodiscard]] std::optional<sampling::profile> find(const std::string& there,
                                                      const std::string& rail) const;
  /// How many connections over this rail's interface pay, to the hosts for which that was measured.
  [[nodiscard]] connection_wishes connections_that_pay(const std::string& rail) const;
  /// Stores the profile that this job's transfers over a first connection have shown, unless it is
  /// stored already. A folder that cannot be written is logged at level `info`, because the program
  /// ends.
  void keep(const std::string& there, const std::string& rail,
            const sampling::profile& learnt) const;

 private:
  sampling::store store_;
};

}  // namespace headway::wireup
