#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "sampling/profile.hpp"

namespace headway::sampling {

/// Whose profile it is: a pair of hosts and the rail between them.
struct profile_key {
  std::string here;   ///< host of the sender
  std::string there;  ///< host of the receiver
  std::string rail;   ///< "tcp:eth0", of the sender

  bool operator==(const profile_key&) const = default;
};

/// A profile as it is kept: for whom, of what, and when.
struct record {
  profile_key key;
  std::string hardware;           ///< what would make it stale: "1000 Mbit/s, mtu 1500"
  std::uint64_t measured_at = 0;  ///< seconds since 1970
  profile found;
};

/// As lines of text, with a sum over them at the end:
///
///     headway profile 2
///     here node1
///     …
///     connections 1                                   that pay, see connections.hpp
///     sample 1 piece 21034 eager 9231 cost 1200       bytes, then nanoseconds
///     …
///     sum 0123456789abcdef
[[nodiscard]] std::string text_of(const record& r);

/// Errors:   `bad_input` with what is wrong and in which line. Any bytes may be given.
[[nodiscard]] base::result<record> record_of(std::string_view text);

}  // namespace headway::sampling
