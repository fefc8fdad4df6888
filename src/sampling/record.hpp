#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "sampling/profile.hpp"

namespace headway::sampling {

/// Identifies a profile: a pair of hosts and the rail between them.
struct profile_key {
  std::string here;   ///< host of the sender
  std::string there;  ///< host of the receiver
  std::string rail;   ///< "tcp:eth0", of the sender

  bool operator==(const profile_key&) const = default;
};

/// A profile as it is stored: its key, its origin and its date.
struct record {
  profile_key key;
  std::string hardware;           ///< the profile is stale if it changes: "1000 Mbit/s, mtu 1500"
  std::uint64_t measured_at = 0;  ///< seconds since 1970
  profile found;
};

/// As lines of text, with a checksum at the end:
///
///     headway profile 2
///     here node1
///     …
///     connections 1                                   that pay, see connections.hpp
///     sample 1 piece 21034 eager 9231 cost 1200       bytes, then nanoseconds
///     …
///     sum 0123456789abcdef
[[nodiscard]] std::string text_of(const record& r);

/// Errors:   `bad_input` with the kind of error and the line. Any bytes may be passed.
[[nodiscard]] base::result<record> record_of(std::string_view text);

}  // namespace headway::sampling
