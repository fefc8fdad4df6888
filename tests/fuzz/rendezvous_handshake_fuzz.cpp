// Any bytes from an unauthenticated process to the host and to the guests of a rendezvous, from a
// host that has the secret, and as the file that names a rendezvous.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "launch/rendezvous/rendezvous_handshake.hpp"
#include "launch/rendezvous/rendezvous_settings.hpp"
#include "tests/fuzz/bytes_of_input.hpp"

namespace {

using headway::launch::rendezvous_decision;
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

void pass(rendezvous_handshake& from, rendezvous_handshake& to) {
  const auto message = from.output();
  if (message.size() != to.wanted().size()) std::abort();
  std::ranges::copy(message, to.wanted().begin());
  from.sent(message.size());
  to.received(message.size());
}

/// The host answers a guest whose secret is the same with any decision.
void meet(const rendezvous_key& key, headway::bytes_of_input input) {
  const std::uint32_t processes = input.byte();
  auto host = rendezvous_handshake::host(key);
  auto guest = rendezvous_handshake::guest(key, processes);
  pass(guest, host);
  pass(host, guest);
  pass(guest, host);
  if (host.at() != rendezvous_handshake::stage::judging || host.processes() != processes)
    std::abort();
  rendezvous_decision decision{.how = static_cast<headway::launch::admission>(input.byte()),
                               .rank = input.byte(),
                               .processes = processes};
  const auto nonce = input.some();
  std::ranges::copy(nonce.first(std::min(nonce.size(), decision.job_nonce.size())),
                    decision.job_nonce.begin());
  host.decide(decision);
  pass(host, guest);
  const auto code = static_cast<std::uint32_t>(decision.how);
  const bool known = code >= 1 && code <= 3;
  if ((guest.at() == rendezvous_handshake::stage::finished) != known) std::abort();
  if (!known) return;
  const auto& got = guest.decision();
  if (got.how != decision.how || got.rank != decision.rank ||
      key.job(got.job_nonce) != key.job(decision.job_nonce))
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const auto key = rendezvous_key::of("a secret that nobody knows");
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 4) {
    case 0:
      talk(rendezvous_handshake::host(key), bytes);
      break;
    case 1:
      talk(rendezvous_handshake::guest(key, 2), bytes);
      break;
    case 2:
      meet(key, headway::bytes_of_input({data + 1, size - 1}));
      break;
    default:
      static_cast<void>(headway::launch::parse_rendezvous(
          {reinterpret_cast<const char*>(data + 1), size - 1}, {}));
  }
  return 0;
}
