// Bytes of an unauthenticated connection against both sides of the TCP handshake, and against the
// address parser.
// A side without the secret must not get further than the challenge. Two sides with the secret do,
// as long as no byte between them is changed.
#include <sodium.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "rails/tcp/address.hpp"
#include "rails/tcp/handshake.hpp"
#include "tests/fuzz/bytes_of_input.hpp"

using headway::rails::tcp::address;
using headway::rails::tcp::credentials;
using headway::rails::tcp::handshake;

namespace {

/// Routes lead to the addresses that the peer has, each once at most.
void find_routes(const address& theirs) {
  using headway::rails::ip_family;
  const headway::rails::ip_address ours{.family = ip_family::v4, .prefix_bits = 24};
  std::vector<headway::rails::net_interface> interfaces(2);
  interfaces[0].loopback = true;
  interfaces[1].addresses.push_back(ours);
  address own;
  own.endpoints.push_back({.ip = ours, .port = 1});
  for (const auto key : {own.loopback_key, theirs.loopback_key}) {
    own.loopback_key = key;
    if (routes_to(theirs, interfaces, key).size() > theirs.endpoints.size()) std::abort();
    static_cast<void>(closeness_of(own, theirs));
  }
}

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

/// Brings a message of `from` to `to`; the input says whether a byte of it is changed.
bool pass(handshake& from, handshake& to, headway::bytes_of_input& input) {
  const auto message = from.output();
  const auto room = to.wanted();
  if (message.empty() || room.size() != message.size()) return false;
  std::ranges::copy(message, room.begin());
  const auto change = static_cast<std::byte>(input.byte());
  if (change != std::byte{0}) room[input.byte() % room.size()] ^= change;
  from.sent(message.size());
  to.received(room.size());
  return change != std::byte{0};
}

/// Both sides have the secret.
void meet(const credentials& own, const credentials& other, headway::bytes_of_input& input) {
  using enum handshake::stage;
  const headway::rails::tcp::resume_point at[] = {
      {.received = input.byte(), .calls = input.byte()},
      {.received = input.byte(), .calls = input.byte()}};
  auto dialler = handshake::dial(other, own.self, at[0]);
  auto answerer = handshake::answer(own);
  bool changed = pass(dialler, answerer, input);
  changed |= pass(answerer, dialler, input);
  changed |= pass(dialler, answerer, input);
  if ((answerer.now() == judging) == changed) std::abort();
  if (changed) return;
  if (answerer.peer() != other.self || answerer.peer_encrypts() != other.encrypts) std::abort();
  const auto code = input.byte();
  answerer.decide(static_cast<headway::rails::tcp::verdict>(code), at[1]);
  const bool known = code >= 1 && code <= 4;
  changed = pass(answerer, dialler, input);
  if ((dialler.now() == finished) != (known && !changed)) std::abort();
  if (dialler.now() != finished) return;
  if (dialler.judged() != answerer.judged()) std::abort();
  if (answerer.peer_resume_point() != at[0] || dialler.peer_resume_point() != at[1]) std::abort();
  if (dialler.keys().send != answerer.keys().receive ||
      dialler.keys().receive != answerer.keys().send)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (sodium_init() < 0) std::abort();
  const auto bytes = std::as_bytes(std::span(data, size));
  credentials own{.self = {.job = 3, .rank = 1}};
  own.secret.fill(std::byte{9});
  talk(handshake::answer(own), bytes);
  talk(handshake::dial(own, {.job = 3, .rank = 2}, {}), bytes);
  headway::bytes_of_input input({data, size});
  credentials other = own;
  other.self = {.job = 3, .rank = input.byte() % 2u};  // 1: the name of this process
  other.encrypts = input.byte() % 2 != 0;
  if (other.self != own.self) meet(own, other, input);
  if (const auto a = address::decode(bytes)) {
    const auto again = a->encode();
    if (!std::ranges::equal(again, bytes)) std::abort();
    find_routes(*a);
  }
  return 0;
}
