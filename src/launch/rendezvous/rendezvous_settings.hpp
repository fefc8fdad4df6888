#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace headway::launch {

/// How processes that were started separately find each other, and their common secret.
struct rendezvous_settings {
  std::string host;
  std::string port;
  std::string secret;
  int processes = 0;  ///< 0: not given

  [[nodiscard]] std::string address() const { return host + ":" + port; }
};

inline constexpr std::size_t rendezvous_secret_bytes_min = 16;
inline constexpr int rendezvous_processes_max = 4096;

/// From HEADWAY_RENDEZVOUS and its companions: `where` is HOST:PORT, or the path of a file, with a
/// '/' in it, that only its owner may open. The file's lines count unless the arguments override
/// them (`processes` 0: not given). Two processes if neither gives the number.
/// Errors:   `bad_input` in one line: what is missing or invalid.
[[nodiscard]] base::result<rendezvous_settings> rendezvous_from(
    std::string_view where, std::optional<std::string_view> secret, int processes);

/// The text of such a file: lines "address HOST:PORT", "secret TEXT", "processes N"; '#' begins a
/// comment.
[[nodiscard]] base::result<rendezvous_settings> parse_rendezvous(std::string_view text,
                                                                 rendezvous_settings known);

}  // namespace headway::launch
