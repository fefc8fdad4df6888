// An address from the key-value exchange: it is parsed or refused, and what was parsed packs again
// to the same bytes, and its process is looked for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "rails/shm/host.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto parsed = headway::rails::shm::address::parse(bytes);
  if (!parsed) return 0;
  HEADWAY_ASSERT(std::ranges::equal(parsed->packed(), bytes));
  static_cast<void>(headway::rails::shm::runs_here(*parsed));
  return 0;
}
