#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headway::launch {

/// The environment variables by which a launcher describes the job to a process. They belong to the
/// launcher, not to the user's settings, so they are no tunables.
/// Threads:  reads the given array; no thread may change it meanwhile.
class environment {
 public:
  /// `entries` ends with a null pointer, as `environ` does.
  explicit environment(const char* const* entries) noexcept : entries_(entries) {}
  [[nodiscard]] static environment of_this_process() noexcept;

  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name).has_value(); }
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const noexcept;

 private:
  const char* const* entries_;
};

}  // namespace headway::launch
