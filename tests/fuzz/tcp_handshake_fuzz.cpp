// Bytes of an unauthenticated connection against both sides of the TCP handshake, and against the
// address parser.
// A side without the secret must not get further than the challenge.
#include <sodium.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "rails/tcp/address.hpp"
#include "rails/tcp/handshake.hpp"

using headway::rails::tcp::address;
using headway::rails::tcp::credentials;
using headway::rails::tcp::handshake;

namespace {

void talk(handshake h, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto room = h.wanted();
    if (room.empty()) break;
    // Parts of uneven length, as a network delivers them.
    const auto part =
        std::min({room.size(), bytes.size(), 1 + static_cast<std::size_t>(bytes[0]) % 80});
    std::memcpy(room.data(), bytes.data(), part);
    h.received(part);
    h.sent(h.output().size());
    bytes = bytes.subspan(part);
  }
  const auto stage = h.now();
  if (stage == handshake::stage::judging || stage == handshake::stage::finished ||
      stage == handshake::stage::decision)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (sodium_init() < 0) std::abort();
  const auto bytes = std::as_bytes(std::span(data, size));
  auto own = credentials::make({}, "job", 1, 4);
  own.secret.fill(std::byte{9});
  talk(handshake::answer(own), bytes);
  talk(handshake::dial(own, 2), bytes);
  if (const auto a = address::decode(bytes)) {
    const auto again = a->encode();
    if (!std::ranges::equal(again, bytes)) std::abort();
  }
  return 0;
}
