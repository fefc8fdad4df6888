#pragma once

#include <cstddef>
#include <cstdint>

#include "endpoints/buffers/block.hpp"

namespace headway::endpoints {

// The comparisons of HEADWAY_ENDPOINT_CHECKS, which detect writes to buffers that the writer does
// not hold.

/// Of the first `bytes` of the buffer: FNV-1a over words, then over the remaining bytes.
[[nodiscard]] std::uint32_t checksum(const block& b, std::size_t bytes) noexcept;
/// Fills a free buffer with a pattern.
void fill_with_poison(block& b) noexcept;
/// Logs that the pattern was overwritten, if it was.
void check_poison(const block& b) noexcept;

}  // namespace headway::endpoints
