// What strangers say at a rendezvous, to its host and to its guests; what a guest says of itself;
// and the file that names a rendezvous.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "launch/card.hpp"
#include "launch/greeting.hpp"
#include "launch/rendezvous_settings.hpp"

namespace {

using headway::launch::greeting;
using headway::launch::meeting_key;

void talk(greeting one, std::span<const std::byte> bytes) {
  while (one.expected_bytes() > 0 && bytes.size() >= one.expected_bytes()) {
    const auto words = bytes.first(one.expected_bytes());
    bytes = bytes.subspan(words.size());
    one.received(words);
  }
  // Nobody gets so far without the secret.
  if (one.at() == greeting::stage::judging || one.at() == greeting::stage::finished) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const auto key = meeting_key::of("a secret that nobody knows");
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 4) {
    case 0:
      talk(greeting::host(key), bytes);
      break;
    case 1:
      talk(greeting::guest(key, 2), bytes);
      break;
    case 2: {
      const auto entries = headway::launch::unpack_card(bytes);
      // What is understood is packed as it was, unless a name came twice.
      if (entries && headway::launch::pack_card(*entries).size() > bytes.size()) std::abort();
      break;
    }
    default:
      static_cast<void>(headway::launch::parse_rendezvous(
          {reinterpret_cast<const char*>(data + 1), size - 1}, {}));
  }
  return 0;
}
