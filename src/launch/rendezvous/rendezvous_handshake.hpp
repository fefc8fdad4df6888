#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "authentication/handshake.hpp"
#include "launch/identity.hpp"

namespace headway::launch {

/// The key derived from the secret that all processes of a rendezvous share.
struct rendezvous_key {
  authentication::key bytes{};

  [[nodiscard]] static rendezvous_key of(std::string_view secret) noexcept;
  /// The secret of the job, from the nonce that the host has drawn.
  [[nodiscard]] job_secret job(std::span<const std::byte> nonce) const noexcept;
};

/// The answer of a rendezvous's host to an authenticated guest.
enum class admission : std::uint32_t {
  granted = 1,
  full,         ///< all processes are there already
  other_count,  ///< the host expects another number of processes
};

/// The host's answer to a guest.
struct rendezvous_decision {
  admission how = admission::full;
  std::uint32_t rank = 0;       ///< of the guest, if it is welcome
  std::uint32_t processes = 0;  ///< that the host expects
  std::array<std::byte, authentication::nonce_bytes> job_nonce{};
};

/// The authenticated handshake of a rendezvous: the guest's proof contains the number of processes
/// that it expects, and the host decides.
/// Shape:    the proof's payload is the number of processes; the decision's are how, rank and
///           processes, four bytes each with the low one first, and the job's nonce.
/// Errors:   `broken`: the other side has another secret or protocol. Fuzzed by
///           tests/fuzz/rendezvous_handshake_fuzz.cpp.
/// Source:   authentication/handshake.hpp.
class rendezvous_handshake {
 public:
  using stage = authentication::handshake::stage;

  /// For the initiator, whose `output` is the hello.
  [[nodiscard]] static rendezvous_handshake guest(const rendezvous_key& key,
                                                  std::uint32_t processes) noexcept;
  /// For the responder.
  [[nodiscard]] static rendezvous_handshake host(const rendezvous_key& key) noexcept;

  [[nodiscard]] stage at() const noexcept { return talk_.now(); }
  /// Where to read the next bytes of the other side to; report by `received` how many came. Empty:
  /// nothing is expected now.
  [[nodiscard]] std::span<std::byte> wanted() noexcept { return talk_.wanted(); }
  stage received(std::size_t bytes) noexcept;
  /// What to send now; report by `sent` how much was sent.
  [[nodiscard]] std::span<const std::byte> output() const noexcept { return talk_.output(); }
  void sent(std::size_t bytes) noexcept { talk_.sent(bytes); }

  /// For a host that is `judging`: how many processes the guest expects.
  [[nodiscard]] std::uint32_t processes() const noexcept;
  void decide(const rendezvous_decision& decision) noexcept;
  /// For a guest that is `finished`.
  [[nodiscard]] const rendezvous_decision& decision() const noexcept { return decision_; }

 private:
  rendezvous_handshake(const rendezvous_key& key, const authentication::handshake& talk) noexcept
      : key_(key), talk_(talk) {}

  rendezvous_key key_;
  authentication::handshake talk_;
  rendezvous_decision decision_;
};

}  // namespace headway::launch
