#include "rails/tcp/handshake.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::string_view magic = "HEADWAY\n";
constexpr std::uint32_t version = 1;

// Where things are in a hello.
constexpr std::size_t at_version = 8;
constexpr std::size_t at_zero = 12;
constexpr std::size_t at_tag = 16;
constexpr std::size_t at_dialler = 32;
constexpr std::size_t at_answerer = 36;
constexpr std::size_t at_nonce = 40;

constexpr std::string_view dialler_label = "headway tcp dialler";
constexpr std::string_view answerer_label = "headway tcp answerer";

std::string_view label_of(verdict v) noexcept {
  switch (v) {
    case verdict::welcome:
      return "headway tcp verdict welcome";
    case verdict::taken:
      return "headway tcp verdict taken";
    case verdict::gone:
      return "headway tcp verdict gone";
  }
  return {};
}

const unsigned char* bytes_of(const void* p) noexcept {
  return static_cast<const unsigned char*>(p);
}
unsigned char* bytes_of(void* p) noexcept { return static_cast<unsigned char*>(p); }

}  // namespace

credentials credentials::make(const std::array<std::byte, 32>& secret, std::string_view job_id,
                              std::uint32_t rank, std::uint32_t size) noexcept {
  credentials c{.secret = secret, .job_tag = {}, .rank = rank, .size = size};
  crypto_generichash(bytes_of(c.job_tag.data()), c.job_tag.size(), bytes_of(job_id.data()),
                     job_id.size(), bytes_of(secret.data()), secret.size());
  return c;
}

handshake handshake::dial(const credentials& own, std::uint32_t peer) noexcept {
  handshake h(own);
  h.peer_ = peer;
  h.stage_ = stage::challenge;
  h.fill_hello();
  h.say(h.hello_);
  return h;
}

handshake handshake::answer(const credentials& own) noexcept {
  handshake h(own);
  h.stage_ = stage::hello;
  return h;
}

void handshake::fill_hello() noexcept {
  std::memcpy(hello_.data(), magic.data(), magic.size());
  put_number(&hello_[at_version], version);
  put_number(&hello_[at_zero], std::uint32_t{0});
  std::memcpy(&hello_[at_tag], own_->job_tag.data(), own_->job_tag.size());
  put_number(&hello_[at_dialler], own_->rank);
  put_number(&hello_[at_answerer], peer_);
  randombytes_buf(&hello_[at_nonce], nonce_bytes);
}

handshake::mac handshake::mac_of(std::string_view label) const noexcept {
  mac made;
  crypto_generichash_state state;
  crypto_generichash_init(&state, bytes_of(own_->secret.data()), own_->secret.size(), made.size());
  // The label's length first: no label followed by a hello reads as another label and hello.
  const auto label_bytes = static_cast<unsigned char>(label.size());
  crypto_generichash_update(&state, &label_bytes, 1);
  crypto_generichash_update(&state, bytes_of(label.data()), label.size());
  crypto_generichash_update(&state, bytes_of(hello_.data()), hello_.size());
  crypto_generichash_update(&state, bytes_of(answer_nonce_.data()), answer_nonce_.size());
  crypto_generichash_final(&state, bytes_of(made.data()), made.size());
  return made;
}

void handshake::say(std::span<const std::byte> bytes) noexcept {
  HEADWAY_ASSERT(output().empty() && bytes.size() <= out_.size());
  std::ranges::copy(bytes, out_.begin());
  out_bytes_ = bytes.size();
  out_sent_ = 0;
}

std::size_t handshake::expected_bytes() const noexcept {
  switch (stage_) {
    case stage::hello:
      return hello_bytes;
    case stage::challenge:
      return challenge_bytes;
    case stage::proof:
      return proof_bytes;
    case stage::decision:
      return decision_bytes;
    case stage::judging:
    case stage::finished:
    case stage::broken:
      return 0;
  }
  return 0;
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
  in_bytes_ = 0;
  switch (stage_) {
    case stage::hello:
      return stage_ = read_hello();
    case stage::challenge:
      return stage_ = read_challenge();
    case stage::proof:
      return stage_ = read_proof();
    case stage::decision:
      return stage_ = read_decision();
    default:
      return stage_;
  }
}

handshake::stage handshake::read_hello() noexcept {
  std::ranges::copy(in_, hello_.begin());
  const auto* h = hello_.data();
  const bool known = std::memcmp(h, magic.data(), magic.size()) == 0 &&
                     get_number<std::uint32_t>(h + at_version) == version &&
                     get_number<std::uint32_t>(h + at_zero) == 0 &&
                     sodium_memcmp(h + at_tag, own_->job_tag.data(), own_->job_tag.size()) == 0 &&
                     get_number<std::uint32_t>(h + at_answerer) == own_->rank;
  peer_ = get_number<std::uint32_t>(h + at_dialler);
  if (!known || peer_ >= own_->size || peer_ == own_->rank) return stage::broken;

  randombytes_buf(answer_nonce_.data(), answer_nonce_.size());
  std::array<std::byte, challenge_bytes> challenge;
  std::ranges::copy(answer_nonce_, challenge.begin());
  std::ranges::copy(mac_of(answerer_label), challenge.begin() + nonce_bytes);
  say(challenge);
  return stage::proof;
}

handshake::stage handshake::read_challenge() noexcept {
  std::copy_n(in_.begin(), nonce_bytes, answer_nonce_.begin());
  const mac due = mac_of(answerer_label);
  if (sodium_memcmp(due.data(), &in_[nonce_bytes], mac_bytes) != 0) return stage::broken;
  say(mac_of(dialler_label));
  return stage::decision;
}

handshake::stage handshake::read_proof() noexcept {
  const mac due = mac_of(dialler_label);
  return sodium_memcmp(due.data(), in_.data(), mac_bytes) == 0 ? stage::judging : stage::broken;
}

handshake::stage handshake::read_decision() noexcept {
  const auto code = get_number<std::uint64_t>(in_.data());
  if (code < 1 || code > 3) return stage::broken;
  judged_ = static_cast<verdict>(code);
  const mac due = mac_of(label_of(judged_));
  return sodium_memcmp(due.data(), &in_[8], mac_bytes) == 0 ? stage::finished : stage::broken;
}

void handshake::decide(verdict v) noexcept {
  HEADWAY_ASSERT(stage_ == stage::judging);
  std::array<std::byte, decision_bytes> decision;
  put_number(decision.data(), static_cast<std::uint64_t>(v));
  std::ranges::copy(mac_of(label_of(v)), decision.begin() + 8);
  say(decision);
  judged_ = v;
  stage_ = stage::finished;
}

}  // namespace headway::rails::tcp
