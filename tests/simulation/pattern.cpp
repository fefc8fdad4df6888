#include "tests/simulation/pattern.hpp"

#include <vector>

#include "base/assert.hpp"
#include "tests/simulation/dice.hpp"

namespace headway::simulation {
namespace {

constexpr std::size_t offsets = 65'521;  // the keys' pieces begin at one of so many bytes

std::vector<std::byte> random_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  dice d(count);
  for (auto& b : bytes) b = static_cast<std::byte>(d.next());
  return bytes;
}

}  // namespace

std::span<const std::byte> pattern(std::uint64_t key, std::size_t bytes) {
  static const auto table = random_bytes(pattern_bytes_max + offsets);
  HEADWAY_ASSERT(bytes <= pattern_bytes_max);
  return std::span(table).subspan(dice(key).next() % offsets, bytes);
}

}  // namespace headway::simulation
