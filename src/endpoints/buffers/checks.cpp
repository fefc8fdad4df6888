#include "endpoints/buffers/checks.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"

namespace headway::endpoints {
namespace {

constexpr std::byte poison_value{0xdb};

}  // namespace

std::uint32_t checksum(const block& b, std::size_t bytes) noexcept {
  const auto* data = b.data();
  std::uint64_t sum = 0xcbf29ce484222325u;
  std::size_t i = 0;
  for (std::uint64_t word; i + sizeof word <= bytes; i += sizeof word) {
    std::memcpy(&word, data + i, sizeof word);
    sum = (sum ^ word) * 0x100000001b3u;
  }
  for (; i < bytes; ++i) sum = (sum ^ static_cast<std::uint64_t>(data[i])) * 0x100000001b3u;
  return static_cast<std::uint32_t>(sum ^ sum >> 32);
}

void fill_with_poison(block& b) noexcept {
  std::memset(b.data(), static_cast<int>(poison_value), b.capacity());
}

void check_poison(const block& b) noexcept {
  if (std::all_of(b.data(), b.data() + b.capacity(), [](auto one) { return one == poison_value; }))
    return;
  base::log(base::severity::error, "a buffer of {} bytes was written after its release",
            b.capacity());
}

}  // namespace headway::endpoints
