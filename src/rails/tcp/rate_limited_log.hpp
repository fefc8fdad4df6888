#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headway::rails::tcp {

/// Events that others cause and that are logged.
enum class complaint : std::uint8_t {
  not_ours,          ///< bytes that are no handshake of this job
  too_slow,          ///< no complete handshake in time
  too_many_pending,  ///< so many unauthenticated callers that new ones have to wait
  no_memory,         ///< no descriptor or memory for a caller
  other_encryption,  ///< a peer encrypts and this process does not, or the other way round
  unverified,        ///< what comes over an encrypted connection is not what its peer has sent
  resumed,           ///< a connection was cut, and goes on as another one
  count_
};

/// Logs what such others do, at most one line a minute for each kind, so that a port scan does not
/// fill a log.
/// Threads:  one at a time.
class rate_limited_log {
 public:
  void say(complaint kind, std::string_view who, std::uint64_t now_ns) noexcept;

 private:
  static constexpr std::uint64_t period_ns = 60'000'000'000;
  struct memory {
    std::uint64_t quiet_until_ns = 0;
    std::uint64_t swallowed = 0;
  };
  std::array<memory, static_cast<std::size_t>(complaint::count_)> kinds_;
};

}  // namespace headway::rails::tcp
