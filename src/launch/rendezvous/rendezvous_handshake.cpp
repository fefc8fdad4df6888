#include "launch/rendezvous/rendezvous_handshake.hpp"

#include <sodium.h>

#include <algorithm>

#include "authentication/sodium_bytes.hpp"
#include "base/assert.hpp"

namespace headway::launch {
namespace {

using authentication::nonce_bytes;
using authentication::sodium_bytes;

constexpr std::string_view key_label = "headway rendezvous key",
                           job_label = "headway rendezvous job";
constexpr std::size_t decision_head_bytes = 12;  // before the nonce
constexpr authentication::protocol rendezvous_protocol{
    .name = "headway meet  2\n",
    .proof_bytes = 4,
    .decision_bytes = decision_head_bytes + nonce_bytes};

void put_number(std::byte* to, std::uint32_t value) noexcept {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> 8 * i & 0xff);
}
std::uint32_t get_number(const std::byte* from) noexcept {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(from[i]) << 8 * i;
  return value;
}

}  // namespace

rendezvous_key rendezvous_key::of(std::string_view secret) noexcept {
  rendezvous_key made;
  crypto_generichash(sodium_bytes(made.bytes.data()), made.bytes.size(),
                     sodium_bytes(secret.data()), secret.size(), sodium_bytes(key_label.data()),
                     key_label.size());
  return made;
}

job_secret rendezvous_key::job(std::span<const std::byte> nonce) const noexcept {
  job_secret made{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, sodium_bytes(bytes.data()), bytes.size(), made.size());
  crypto_generichash_update(&state, sodium_bytes(job_label.data()), job_label.size());
  crypto_generichash_update(&state, sodium_bytes(nonce.data()), nonce.size());
  crypto_generichash_final(&state, sodium_bytes(made.data()), made.size());
  return made;
}

rendezvous_handshake rendezvous_handshake::guest(const rendezvous_key& key,
                                                 std::uint32_t processes) noexcept {
  std::array<std::byte, rendezvous_protocol.proof_bytes> proof;
  put_number(proof.data(), processes);
  return {key, authentication::handshake::initiator(key.bytes, rendezvous_protocol, {}, proof)};
}

rendezvous_handshake rendezvous_handshake::host(const rendezvous_key& key) noexcept {
  return {key, authentication::handshake::responder(rendezvous_protocol)};
}

rendezvous_handshake::stage rendezvous_handshake::received(std::size_t bytes) noexcept {
  const auto now = talk_.received(bytes);
  if (now == stage::claimed) talk_.accept(key_.bytes);
  if (now == stage::finished) {
    const auto given = talk_.decision();
    const auto code = get_number(given.data());
    if (code < 1 || code > 3) {
      talk_.refuse();
      return talk_.now();
    }
    decision_ = {.how = static_cast<admission>(code),
                 .rank = get_number(given.data() + 4),
                 .processes = get_number(given.data() + 8)};
    std::ranges::copy(given.last(nonce_bytes), decision_.job_nonce.begin());
  }
  return talk_.now();
}

std::uint32_t rendezvous_handshake::processes() const noexcept {
  HEADWAY_ASSERT(at() == stage::judging);
  return get_number(talk_.proof().data());
}

void rendezvous_handshake::decide(const rendezvous_decision& decision) noexcept {
  std::array<std::byte, rendezvous_protocol.decision_bytes> given;
  put_number(given.data(), static_cast<std::uint32_t>(decision.how));
  put_number(given.data() + 4, decision.rank);
  put_number(given.data() + 8, decision.processes);
  std::ranges::copy(decision.job_nonce, given.begin() + decision_head_bytes);
  talk_.decide(given);
}

}  // namespace headway::launch
