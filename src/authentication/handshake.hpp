#pragma once

#include <sodium.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headway::authentication {

inline constexpr std::size_t key_bytes = 32, nonce_bytes = 32, mac_bytes = 32;
/// A secret that both processes have.
using key = std::array<std::byte, key_bytes>;

/// Keys for what the two sides send after a handshake: of this connection alone, one for each
/// direction.
struct session_keys {
  key from_initiator, from_responder;
};

/// The constants of one use of the handshake, the same at both ends.
struct protocol {
  std::string_view name;  ///< 16 characters, version included; the first bytes of a connection
  std::size_t hello_bytes = 0, proof_bytes = 0, decision_bytes = 0;  ///< of the payloads
};

/// Two processes prove to each other that they have the same key, and exchange a few bytes of
/// payload, before either trusts any other byte of the connection.
///
///   initiator -> responder   hello      name, payload, nonce of the initiator
///   responder -> initiator   challenge  nonce of the responder, MAC
///   initiator -> responder   proof      payload, MAC
///   responder -> initiator   decision   payload, MAC
///
/// Each MAC is libsodium's keyed BLAKE2b over all bytes that both sides have sent so far, and a
/// label that names the message: no MAC is valid for another message, direction, connection or
/// payload. Uses no sockets: the caller sends `output()` and stores what it reads in `wanted()`.
///
/// Shape:    messages of fixed length. `wanted` never exceeds the rest of the next message, so that
///           no byte after the handshake is read.
/// Threads:  one at a time.
/// Errors:   `broken`, which is final, after the first message that is malformed or wrongly signed.
class handshake {
 public:
  static constexpr std::size_t payload_bytes_max = 48;

  enum class stage : std::uint8_t {
    hello,      ///< the responder waits for the hello
    claimed,    ///< the responder has to `accept` what the hello claims, or to `refuse` it
    challenge,  ///< the initiator waits for the challenge
    proof,      ///< the responder waits for the proof
    judging,    ///< the initiator has proved itself, the responder has to `decide`
    decision,   ///< the initiator waits for the decision
    finished,
    broken,
  };

  /// `hello` and `proof` are the initiator's payloads, of the protocol's lengths.
  [[nodiscard]] static handshake initiator(const key& shared, const protocol& use,
                                           std::span<const std::byte> hello,
                                           std::span<const std::byte> proof) noexcept;
  [[nodiscard]] static handshake responder(const protocol& use) noexcept;

  [[nodiscard]] stage now() const noexcept { return stage_; }

  /// The bytes to send now; the caller reports by `sent` how many it has sent.
  [[nodiscard]] std::span<const std::byte> output() const noexcept {
    return std::span(out_).subspan(out_sent_, out_bytes_ - out_sent_);
  }
  void sent(std::size_t bytes) noexcept;

  /// Where to store the next bytes that are read; the caller reports by `received` how many it has
  /// read. Empty: no message is expected now.
  [[nodiscard]] std::span<std::byte> wanted() noexcept;
  stage received(std::size_t bytes) noexcept;

  // For the responder.
  /// The initiator's payloads: unproved at `claimed`, proved from `judging` on.
  [[nodiscard]] std::span<const std::byte> hello() const noexcept;
  [[nodiscard]] std::span<const std::byte> proof() const noexcept;
  void accept(const key& shared) noexcept;                   ///< at `claimed`
  void refuse() noexcept { stage_ = stage::broken; }         ///< at any stage
  void decide(std::span<const std::byte> payload) noexcept;  ///< at `judging`

  /// For the initiator that is `finished`: the responder's payload.
  [[nodiscard]] std::span<const std::byte> decision() const noexcept;

  /// Of a handshake that is `finished`: keyed BLAKE2b over all its bytes, both nonces included,
  /// with the shared key and a label of its own for each direction.
  [[nodiscard]] session_keys keys() const noexcept;

 private:
  static constexpr std::size_t name_bytes = 16;
  static constexpr std::size_t message_bytes_max = name_bytes + payload_bytes_max + nonce_bytes;
  using mac = std::array<std::byte, mac_bytes>;
  using payload_buffer = std::array<std::byte, payload_bytes_max>;

  explicit handshake(const protocol& use) noexcept;
  void begin_transcript(const key& shared, std::span<const std::byte> hello) noexcept;
  [[nodiscard]] std::size_t expected_bytes() const noexcept;
  void absorb(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] mac mac_of(std::string_view label) const noexcept;
  [[nodiscard]] bool proves(std::string_view label,
                            std::span<const std::byte> given) const noexcept;
  void put_output(std::span<const std::byte> front, std::span<const std::byte> back) noexcept;
  [[nodiscard]] stage handle_message() noexcept;

  protocol use_;
  crypto_generichash_state transcript_{};
  stage stage_ = stage::broken;
  payload_buffer hello_{}, proof_{}, decision_{};
  std::array<std::byte, message_bytes_max> in_{}, out_{};
  std::size_t in_bytes_ = 0, out_bytes_ = 0, out_sent_ = 0;
};

}  // namespace headway::authentication
