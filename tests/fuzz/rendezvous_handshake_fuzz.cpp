// Any bytes from an unauthenticated process to the host and to the guests of a rendezvous, and as
// the file that names a rendezvous.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "launch/rendezvous/rendezvous_handshake.hpp"
#include "launch/rendezvous/rendezvous_settings.hpp"

namespace {

using headway::launch::rendezvous_handshake;
using headway::launch::rendezvous_key;

void talk(rendezvous_handshake one, std::span<const std::byte> bytes) {
  while (!bytes.empty() && !one.wanted().empty()) {
    const auto part = std::min(bytes.size(), one.wanted().size());
    std::ranges::copy(bytes.first(part), one.wanted().begin());
    one.sent(one.output().size());
    one.received(part);
    bytes = bytes.subspan(part);
  }
  // No sequence of bytes gets so far without the secret.
  if (one.at() == rendezvous_handshake::stage::judging ||
      one.at() == rendezvous_handshake::stage::finished)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const auto key = rendezvous_key::of("a secret that nobody knows");
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 3) {
    case 0:
      talk(rendezvous_handshake::host(key), bytes);
      break;
    case 1:
      talk(rendezvous_handshake::guest(key, 2), bytes);
      break;
    default:
      static_cast<void>(headway::launch::parse_rendezvous(
          {reinterpret_cast<const char*>(data + 1), size - 1}, {}));
  }
  return 0;
}
