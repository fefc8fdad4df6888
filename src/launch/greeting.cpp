#include "launch/greeting.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace headway::launch {
namespace {

constexpr std::string_view magic = "HEADWAY MEETS 1\n";
constexpr std::string_view host_label = "headway meeting host";
constexpr std::string_view guest_label = "headway meeting guest";
constexpr std::string_view decision_label = "headway meeting decision";
constexpr std::string_view key_label = "headway meeting key";
constexpr std::string_view job_label = "headway meeting job";

constexpr std::size_t hello_bytes = magic.size() + greeting::nonce_bytes;
constexpr std::size_t challenge_bytes = greeting::nonce_bytes + greeting::hash_bytes;
constexpr std::size_t proof_bytes = 4 + greeting::hash_bytes;
constexpr std::size_t decided_bytes = 12 + greeting::nonce_bytes;  // what the hash is about
constexpr std::size_t decision_bytes = decided_bytes + greeting::hash_bytes;

unsigned char* bytes_of(void* p) noexcept { return static_cast<unsigned char*>(p); }
const unsigned char* bytes_of(const void* p) noexcept {
  return static_cast<const unsigned char*>(p);
}

void put_number(std::byte* to, std::uint32_t value) noexcept {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> 8 * i & 0xff);
}
std::uint32_t get_number(const std::byte* from) noexcept {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(from[i]) << 8 * i;
  return value;
}

}  // namespace

meeting_key meeting_key::of(std::string_view secret) noexcept {
  meeting_key made;
  crypto_generichash(bytes_of(made.bytes.data()), made.bytes.size(), bytes_of(secret.data()),
                     secret.size(), bytes_of(key_label.data()), key_label.size());
  return made;
}

job_secret meeting_key::job(std::span<const std::byte> nonce) const noexcept {
  job_secret made{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, bytes_of(bytes.data()), bytes.size(), made.size());
  crypto_generichash_update(&state, bytes_of(job_label.data()), job_label.size());
  crypto_generichash_update(&state, bytes_of(nonce.data()), nonce.size());
  crypto_generichash_final(&state, bytes_of(made.data()), made.size());
  return made;
}

greeting greeting::guest(const meeting_key& key, std::uint32_t processes) noexcept {
  greeting g(key);
  g.stage_ = stage::challenge;
  g.processes_ = processes;
  randombytes_buf(g.guest_nonce_.data(), g.guest_nonce_.size());
  std::array<std::byte, hello_bytes> hello;
  std::memcpy(hello.data(), magic.data(), magic.size());
  std::ranges::copy(g.guest_nonce_, hello.begin() + magic.size());
  g.say(hello);
  return g;
}

greeting greeting::host(const meeting_key& key) noexcept { return greeting(key); }

std::size_t greeting::expected_bytes() const noexcept {
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

greeting::hash greeting::hash_of(std::string_view label,
                                 std::span<const std::byte> said) const noexcept {
  hash made;
  crypto_generichash_state state;
  crypto_generichash_init(&state, bytes_of(key_.bytes.data()), key_.bytes.size(), made.size());
  // The label's length first: no label with what follows reads as another one.
  const auto label_bytes = static_cast<unsigned char>(label.size());
  crypto_generichash_update(&state, &label_bytes, 1);
  crypto_generichash_update(&state, bytes_of(label.data()), label.size());
  crypto_generichash_update(&state, bytes_of(guest_nonce_.data()), guest_nonce_.size());
  crypto_generichash_update(&state, bytes_of(host_nonce_.data()), host_nonce_.size());
  crypto_generichash_update(&state, bytes_of(said.data()), said.size());
  crypto_generichash_final(&state, bytes_of(made.data()), made.size());
  return made;
}

bool greeting::proves(std::string_view label, std::span<const std::byte> said,
                      std::span<const std::byte> given) const noexcept {
  const hash due = hash_of(label, said);
  return sodium_memcmp(due.data(), given.data(), due.size()) == 0;
}

void greeting::say(std::span<const std::byte> bytes) noexcept {
  HEADWAY_ASSERT(bytes.size() <= out_.size());
  std::ranges::copy(bytes, out_.begin());
  out_bytes_ = bytes.size();
}

greeting::stage greeting::received(std::span<const std::byte> bytes) noexcept {
  HEADWAY_ASSERT(bytes.size() == expected_bytes());
  out_bytes_ = 0;
  return stage_ = read(bytes);
}

greeting::stage greeting::read(std::span<const std::byte> bytes) noexcept {
  switch (stage_) {
    case stage::hello: {
      if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) return stage::broken;
      std::ranges::copy(bytes.last(nonce_bytes), guest_nonce_.begin());
      randombytes_buf(host_nonce_.data(), host_nonce_.size());
      std::array<std::byte, challenge_bytes> challenge;
      std::ranges::copy(host_nonce_, challenge.begin());
      std::ranges::copy(hash_of(host_label, {}), challenge.begin() + nonce_bytes);
      say(challenge);
      return stage::proof;
    }
    case stage::challenge: {
      std::ranges::copy(bytes.first(nonce_bytes), host_nonce_.begin());
      if (!proves(host_label, {}, bytes.last(hash_bytes))) return stage::broken;
      std::array<std::byte, proof_bytes> proof;
      put_number(proof.data(), processes_);
      std::ranges::copy(hash_of(guest_label, std::span(proof).first(4)), proof.begin() + 4);
      say(proof);
      return stage::decision;
    }
    case stage::proof:
      if (!proves(guest_label, bytes.first(4), bytes.last(hash_bytes))) return stage::broken;
      processes_ = get_number(bytes.data());
      return stage::judging;
    case stage::decision: {
      if (!proves(decision_label, bytes.first(decided_bytes), bytes.last(hash_bytes)))
        return stage::broken;
      const auto code = get_number(bytes.data());
      if (code < 1 || code > 3) return stage::broken;
      reception_ = static_cast<reception>(code);
      rank_ = get_number(bytes.data() + 4);
      host_processes_ = get_number(bytes.data() + 8);
      std::ranges::copy(bytes.subspan(12, nonce_bytes), job_nonce_.begin());
      return stage::finished;
    }
    case stage::judging:
    case stage::finished:
    case stage::broken:
      break;
  }
  return stage::broken;
}

void greeting::decide(reception how, std::uint32_t rank,
                      std::span<const std::byte> job_nonce) noexcept {
  HEADWAY_ASSERT(stage_ == stage::judging && job_nonce.size() == nonce_bytes);
  std::array<std::byte, decision_bytes> decision;
  put_number(decision.data(), static_cast<std::uint32_t>(how));
  put_number(decision.data() + 4, rank);
  put_number(decision.data() + 8, host_processes_);
  std::ranges::copy(job_nonce, decision.begin() + 12);
  const auto said = std::span(decision).first(decided_bytes);
  std::ranges::copy(hash_of(decision_label, said), decision.begin() + decided_bytes);
  say(decision);
  reception_ = how;
  stage_ = stage::finished;
}

}  // namespace headway::launch
