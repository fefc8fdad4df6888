#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "authentication/handshake.hpp"
#include "launch/identity.hpp"

namespace headway::launch {

/// The key that follows from the secret which all processes of a rendezvous know.
struct rendezvous_key {
  authentication::key bytes{};

  [[nodiscard]] static rendezvous_key of(std::string_view secret) noexcept;
  /// The secret of the job whose nonce the host has drawn.
  [[nodiscard]] job_secret job(std::span<const std::byte> nonce) const noexcept;
};

/// How the host of a rendezvous answers a guest that has proved itself.
enum class reception : std::uint32_t {
  welcome = 1,
  full,         ///< all processes have come already
  other_count,  ///< the host expects another number of processes
};

/// The host's answer to a guest.
struct rendezvous_decision {
  reception how = reception::full;
  std::uint32_t rank = 0;       ///< of the guest, if it is welcome
  std::uint32_t processes = 0;  ///< that the host expects
  std::array<std::byte, authentication::nonce_bytes> job_nonce{};
};

/// The authenticated handshake of a rendezvous: the guest says in its proof how many processes it
/// expects, the host decides about it.
/// Shape:    the proof's payload is the number of processes; the decision's are how, rank and
///           processes, four bytes each with the low one first, and the job's nonce.
/// Errors:   `broken`: the other side has another secret, or another protocol. Fuzzed by
///           tests/fuzz/rendezvous_handshake_fuzz.cpp.
/// Source:   authentication/handshake.hpp.
class rendezvous_handshake {
 public:
  using stage = authentication::handshake::stage;

  /// The initiator. `output` is its hello.
  [[nodiscard]] static rendezvous_handshake guest(const rendezvous_key& key,
                                                  std::uint32_t processes) noexcept;
  /// The responder.
  [[nodiscard]] static rendezvous_handshake host(const rendezvous_key& key) noexcept;

  [[nodiscard]] stage at() const noexcept { return talk_.now(); }
  /// Where the next bytes of the other side go; report what came by `received`. Empty: nothing is
  /// expected now.
  [[nodiscard]] std::span<std::byte> wanted() noexcept { return talk_.wanted(); }
  stage received(std::size_t bytes) noexcept;
  /// What is to be sent now; report what went out by `sent`.
  [[nodiscard]] std::span<const std::byte> output() const noexcept { return talk_.output(); }
  void sent(std::size_t bytes) noexcept { talk_.sent(bytes); }

  /// Of a host that is `judging`: how many processes the guest expects.
  [[nodiscard]] std::uint32_t processes() const noexcept;
  void decide(const rendezvous_decision& decision) noexcept;
  /// Of a guest that is `finished`.
  [[nodiscard]] const rendezvous_decision& decision() const noexcept { return decision_; }

 private:
  explicit rendezvous_handshake(authentication::handshake talk) noexcept : talk_(talk) {}

  authentication::handshake talk_;
  rendezvous_decision decision_;
};

}  // namespace headway::launch
