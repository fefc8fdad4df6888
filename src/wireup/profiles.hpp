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

/// This host as profiles name it.
[[nodiscard]] std::string own_host();
/// What a rail's profile depends on: "1000 Mbit/s, mtu 1500" of its interface, as far as the kernel
/// knows it.
[[nodiscard]] std::string hardware_of(std::string_view rail);
/// Since 1970, as profiles are dated.
[[nodiscard]] std::uint64_t seconds_now();

/// The profiles of this host's rails, which the user's cache folder keeps from one job to the next.
/// Threads:  any.
/// Progress: reads and writes files: not for a polling round.
/// Errors:   what cannot be used is said in the log, and is as good as none.
class rail_profiles {
 public:
  explicit rail_profiles(sampling::settings how) : store_(std::move(how)) {}

  /// Of the rail from this host to `there`; of a second or further connection, that of the first.
  [[nodiscard]] std::optional<sampling::profile> find(const std::string& there,
                                                      const std::string& rail) const;
  /// As many connections over this rail's interface as pay, to the hosts of which that is known.
  [[nodiscard]] connection_wishes connections_that_pay(const std::string& rail) const;
  /// Keeps what transfers over a first connection have taught, unless it is what is stored already.
  /// A folder that cannot be written is said at level `info`, because the program ends.
  void keep(const std::string& there, const std::string& rail,
            const sampling::profile& learnt) const;

 private:
  sampling::store store_;
};

}  // namespace headway::wireup
