#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::launch {

/// Another job that a program wants: the arguments of an mpiexec, and what is around it.
struct spawn_request {
  /// Of what is sent to an mpiexec.
  static constexpr std::size_t packed_bytes_max = 100'000;

  std::vector<std::string> arguments = {};    ///< without the name of mpiexec itself
  std::vector<std::string> environment = {};  ///< "NAME=VALUE", beside the other variables
  std::string directory = {};                 ///< in which it starts; empty: the starter's

  /// As one word for the PMI wire: hexadecimal, of texts that end with a zero byte each: the
  /// directory, and both lists behind their lengths.
  [[nodiscard]] std::string packed() const;
  /// Nothing: not what `packed` wrote.
  [[nodiscard]] static std::optional<spawn_request> unpack(std::string_view word);

  bool operator==(const spawn_request&) const = default;
};

/// Whether an entry of the environment is of the launcher that has started this process, which
/// other launchers and their processes must not inherit.
[[nodiscard]] bool is_of_outer_launcher(std::string_view entry) noexcept;

}  // namespace headway::launch
