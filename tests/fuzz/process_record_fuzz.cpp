// Any bytes as another process's record: they are parsed or refused.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "wireup/process_record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using headway::wireup::process_record;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)process_record::place_in(bytes);
  const auto found = process_record::unpack(bytes);
  // A record that was parsed, packed and parsed again is the same.
  if (found) HEADWAY_ASSERT(process_record::unpack(found->pack()) == *found);
  return 0;
}
