// Any bytes as a profile's file: they are parsed or refused, and a parsed profile is the same after
// it is written and parsed again. The bytes are also tried with a correct checksum at their end.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "sampling/record.hpp"

namespace {

void try_text(const std::string& text) {
  const auto r = headway::sampling::record_of(text);
  if (!r) return;
  const auto again = headway::sampling::record_of(headway::sampling::text_of(*r));
  HEADWAY_ASSERT(again && again->key == r->key && again->hardware == r->hardware);
}

std::string with_sum(std::string text) {
  const auto sum = headway::base::hash_of(text);
  text += "sum ";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[sum >> shift & 15];
  return text + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_text(text);
  try_text(with_sum(text));
  return 0;
}
