#include "authentication/handshake.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "authentication/sodium_bytes.hpp"
#include "base/assert.hpp"

namespace headway::authentication {
namespace {

constexpr std::string_view responder_label = "responder", initiator_label = "initiator",
                           decision_label = "decision",
                           initiator_key_label = "key of the initiator",
                           responder_key_label = "key of the responder";

std::span<const std::byte> text(std::string_view t) noexcept {
  return std::as_bytes(std::span(t.data(), t.size()));
}

}  // namespace

handshake::handshake(const protocol& use) noexcept : use_(use) {
  HEADWAY_ASSERT(use.name.size() == name_bytes && use.hello_bytes <= payload_bytes_max &&
                 use.proof_bytes <= payload_bytes_max && use.decision_bytes <= payload_bytes_max);
}

/// `hello`: the message without the protocol's name.
void handshake::begin_transcript(const key& shared, std::span<const std::byte> hello) noexcept {
  crypto_generichash_init(&transcript_, sodium_bytes(shared.data()), shared.size(), mac_bytes);
  absorb(text(use_.name));
  absorb(hello);
}

handshake handshake::initiator(const key& shared, const protocol& use,
                               std::span<const std::byte> hello,
                               std::span<const std::byte> proof) noexcept {
  HEADWAY_ASSERT(hello.size() == use.hello_bytes && proof.size() == use.proof_bytes);
  handshake h(use);
  std::ranges::copy(hello, h.hello_.begin());
  std::ranges::copy(proof, h.proof_.begin());
  std::array<std::byte, payload_bytes_max + nonce_bytes> message;
  std::ranges::copy(hello, message.begin());
  randombytes_buf(message.data() + hello.size(), nonce_bytes);
  const auto all = std::span(message).first(hello.size() + nonce_bytes);
  h.begin_transcript(shared, all);
  h.put_output(text(use.name), all);
  h.stage_ = stage::challenge;
  return h;
}

handshake handshake::responder(const protocol& use) noexcept {
  handshake h(use);
  h.stage_ = stage::hello;
  return h;
}

void handshake::absorb(std::span<const std::byte> bytes) noexcept {
  crypto_generichash_update(&transcript_, sodium_bytes(bytes.data()), bytes.size());
}

/// Messages have fixed lengths, so that two different exchanges never give the same transcript; the
/// label follows with its length.
handshake::mac handshake::mac_of(std::string_view label) const noexcept {
  mac made;
  auto state = transcript_;
  const auto label_bytes = static_cast<unsigned char>(label.size());
  crypto_generichash_update(&state, sodium_bytes(label.data()), label.size());
  crypto_generichash_update(&state, &label_bytes, 1);
  crypto_generichash_final(&state, sodium_bytes(made.data()), made.size());
  return made;
}

bool handshake::proves(std::string_view label, std::span<const std::byte> given) const noexcept {
  const mac expected = mac_of(label);
  return given.size() == expected.size() &&
         sodium_memcmp(expected.data(), given.data(), expected.size()) == 0;
}

void handshake::put_output(std::span<const std::byte> front,
                           std::span<const std::byte> back) noexcept {
  HEADWAY_ASSERT(output().empty() && front.size() + back.size() <= out_.size());
  std::ranges::copy(front, out_.begin());
  std::ranges::copy(back, out_.begin() + static_cast<std::ptrdiff_t>(front.size()));
  out_bytes_ = front.size() + back.size();
  out_sent_ = 0;
}

void handshake::sent(std::size_t bytes) noexcept {
  HEADWAY_ASSERT(bytes <= out_bytes_ - out_sent_);
  out_sent_ += bytes;
}

std::size_t handshake::expected_bytes() const noexcept {
  switch (stage_) {
    case stage::hello:
      return name_bytes + use_.hello_bytes + nonce_bytes;
    case stage::challenge:
      return nonce_bytes + mac_bytes;
    case stage::proof:
      return use_.proof_bytes + mac_bytes;
    case stage::decision:
      return use_.decision_bytes + mac_bytes;
    default:
      return 0;
  }
}

std::span<std::byte> handshake::wanted() noexcept {
  const auto expected = expected_bytes();
  if (expected == 0) return {};
  return std::span(in_).subspan(in_bytes_, expected - in_bytes_);
}

handshake::stage handshake::received(std::size_t bytes) noexcept {
  in_bytes_ += bytes;
  const auto expected = expected_bytes();
  HEADWAY_ASSERT(in_bytes_ <= expected);
  if (in_bytes_ < expected) return stage_;
  stage_ = handle_message();
  in_bytes_ = 0;
  return stage_;
}

/// Handles the message that is complete in `in_`.
handshake::stage handshake::handle_message() noexcept {
  const auto bytes = std::span<const std::byte>(in_).first(in_bytes_);
  switch (stage_) {
    case stage::hello:
      if (std::memcmp(bytes.data(), use_.name.data(), name_bytes) != 0) return stage::broken;
      std::ranges::copy(bytes.subspan(name_bytes, use_.hello_bytes), hello_.begin());
      return stage::claimed;
    case stage::challenge:
      absorb(bytes.first(nonce_bytes));
      if (!proves(responder_label, bytes.last(mac_bytes))) return stage::broken;
      absorb(std::span(proof_).first(use_.proof_bytes));
      put_output(std::span(proof_).first(use_.proof_bytes), mac_of(initiator_label));
      return stage::decision;
    case stage::proof:
      std::ranges::copy(bytes.first(use_.proof_bytes), proof_.begin());
      absorb(bytes.first(use_.proof_bytes));
      return proves(initiator_label, bytes.last(mac_bytes)) ? stage::judging : stage::broken;
    case stage::decision:
      std::ranges::copy(bytes.first(use_.decision_bytes), decision_.begin());
      absorb(bytes.first(use_.decision_bytes));
      return proves(decision_label, bytes.last(mac_bytes)) ? stage::finished : stage::broken;
    default:
      return stage::broken;
  }
}

void handshake::accept(const key& shared) noexcept {
  HEADWAY_ASSERT(stage_ == stage::claimed);
  // The hello, which `in_` has until the next message is read.
  begin_transcript(shared, std::span(in_).subspan(name_bytes, use_.hello_bytes + nonce_bytes));
  std::array<std::byte, nonce_bytes> nonce;
  randombytes_buf(nonce.data(), nonce.size());
  absorb(nonce);
  put_output(nonce, mac_of(responder_label));
  stage_ = stage::proof;
}

void handshake::decide(std::span<const std::byte> payload) noexcept {
  HEADWAY_ASSERT(stage_ == stage::judging && payload.size() == use_.decision_bytes);
  absorb(payload);
  put_output(payload, mac_of(decision_label));
  stage_ = stage::finished;
}

session_keys handshake::keys() const noexcept {
  HEADWAY_ASSERT(stage_ == stage::finished);
  static_assert(std::is_same_v<mac, key>);
  return {.from_initiator = mac_of(initiator_key_label),
          .from_responder = mac_of(responder_key_label)};
}

std::span<const std::byte> handshake::hello() const noexcept {
  return std::span(hello_).first(use_.hello_bytes);
}
std::span<const std::byte> handshake::proof() const noexcept {
  return std::span(proof_).first(use_.proof_bytes);
}
std::span<const std::byte> handshake::decision() const noexcept {
  return std::span(decision_).first(use_.decision_bytes);
}

}  // namespace headway::authentication
