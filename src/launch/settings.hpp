#pragma once

#include <cstdint>
#include <string>

namespace headway::launch {

/// The user's settings of launching.
struct settings {
  /// The longest wait for a reply of the launcher, and for all ranks to reach an exchange.
  std::uint64_t start_timeout_ns = 60'000'000'000;
  std::string rendezvous = {};   ///< HOST:PORT, or a file; empty: none
  int rendezvous_processes = 0;  ///< 0: from the file, else 2

  [[nodiscard]] static settings from_environment();
  /// `start_timeout_ns` in seconds, for messages.
  [[nodiscard]] std::uint64_t start_timeout_s() const noexcept {
    return start_timeout_ns / 1'000'000'000;
  }
  /// When a wait that begins now times out (base::machine_now_ns).
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept;
};

}  // namespace headway::launch
