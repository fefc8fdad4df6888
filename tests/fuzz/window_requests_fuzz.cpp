// Any bytes as a message of an origin of a window: its requests are taken or refused, and those
// that are taken lie inside of the message.
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "base/assert.hpp"
#include "windows/wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headway;
  const auto copy = std::make_unique<std::byte[]>(size + 1);
  std::memcpy(copy.get(), data, size);
  std::span<const std::byte> rest{copy.get(), size};
  while (!rest.empty()) {
    const auto before = rest.size();
    const auto request = windows::take_request(rest);
    if (!request) return 0;
    HEADWAY_ASSERT(rest.size() < before);
    HEADWAY_ASSERT(request->payload.empty() ||
                   request->payload.data() + request->payload.size() <= copy.get() + size);
    const auto elements = windows::elements_of(*request);
    HEADWAY_ASSERT(!elements || *elements >= 0);
  }
  return 0;
}
