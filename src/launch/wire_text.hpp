#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway::launch {

/// For one value that a process publishes in an exchange.
inline constexpr std::size_t record_bytes_max = 1 << 20;

/// Bytes as text that every PMI server transmits unchanged (URL-safe base64, no padding), and back.
[[nodiscard]] std::string to_wire_text(std::span<const std::byte> bytes);
[[nodiscard]] std::optional<std::vector<std::byte>> from_wire_text(std::string_view text);

}  // namespace headway::launch
