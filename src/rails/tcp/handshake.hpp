#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headway::rails::tcp {

/// What a process of the job knows and others do not, and who it is.
struct credentials {
  std::array<std::byte, 32> secret{};
  std::array<std::byte, 16> job_tag{};  ///< of the job's name, keyed: says nothing to strangers
  std::uint32_t rank = 0;
  std::uint32_t size = 1;

  [[nodiscard]] static credentials make(const std::array<std::byte, 32>& secret,
                                        std::string_view job_id, std::uint32_t rank,
                                        std::uint32_t size) noexcept;
};

/// The answering side's word on a caller that has proved itself.
enum class verdict : std::uint8_t {
  welcome = 1,  ///< this connection is the one to use
  taken = 2,    ///< another connection of the same pair is or will be
  gone = 3,     ///< the pair's connection has been and is no more
};

/// Both sides prove that they know the job's secret before any other byte is trusted.
///
///   dialler -> answerer   hello      magic, version, job tag, both ranks, nonce of the dialler
///   answerer -> dialler   challenge  nonce of the answerer, MAC("answerer", hello, both nonces)
///   dialler -> answerer   proof      MAC("dialler", hello, both nonces)
///   answerer -> dialler   decision   verdict, MAC("verdict" …, hello, both nonces)
///
/// The MAC is libsodium's keyed BLAKE2b; its label keeps a proof of one side, or of one verdict,
/// from serving as another. Knows no sockets: bytes go in and come out.
///
/// Shape:    messages of fixed length (72, 64, 32, 40 bytes). `wanted` is never more than what is
///           left of the next message, so that no byte behind the handshake is ever read.
/// Threads:  none.
/// Errors:   `broken` for ever after the first byte that does not fit. A hello of another job, for
///           another rank, or from a rank that does not exist is broken too.
class handshake {
 public:
  enum class stage : std::uint8_t {
    hello,      ///< the answerer waits for it
    challenge,  ///< the dialler waits for it
    proof,      ///< the answerer waits for it
    judging,    ///< the answerer has to `decide`
    decision,   ///< the dialler waits for it
    finished,   ///< `judged` says how
    broken,
  };

  [[nodiscard]] static handshake dial(const credentials& own, std::uint32_t peer) noexcept;
  [[nodiscard]] static handshake answer(const credentials& own) noexcept;

  [[nodiscard]] stage now() const noexcept { return stage_; }
  /// The other side. For the answerer: after `hello`, a claim; from `judging` on, the truth.
  [[nodiscard]] std::uint32_t peer() const noexcept { return peer_; }
  [[nodiscard]] verdict judged() const noexcept { return judged_; }

  /// What to send now; report what went out by `sent`.
  [[nodiscard]] std::span<const std::byte> output() const noexcept {
    return std::span(out_).subspan(out_sent_, out_bytes_ - out_sent_);
  }
  void sent(std::size_t bytes) noexcept { out_sent_ += bytes; }

  /// Where to read the next bytes to, at most so many; report what came by `received`. Empty:
  /// nothing is expected now.
  [[nodiscard]] std::span<std::byte> wanted() noexcept;
  stage received(std::size_t bytes) noexcept;

  /// The answerer, at `judging`.
  void decide(verdict v) noexcept;

 private:
  static constexpr std::size_t nonce_bytes = 32;
  static constexpr std::size_t mac_bytes = 32;
  static constexpr std::size_t hello_bytes = 72;
  static constexpr std::size_t challenge_bytes = nonce_bytes + mac_bytes;
  static constexpr std::size_t proof_bytes = mac_bytes;
  static constexpr std::size_t decision_bytes = 8 + mac_bytes;
  using mac = std::array<std::byte, mac_bytes>;

  explicit handshake(const credentials& own) noexcept : own_(&own) {}

  [[nodiscard]] std::size_t expected_bytes() const noexcept;
  [[nodiscard]] mac mac_of(std::string_view label) const noexcept;
  void say(std::span<const std::byte> bytes) noexcept;
  void fill_hello() noexcept;
  stage read_hello() noexcept;
  stage read_challenge() noexcept;
  stage read_proof() noexcept;
  stage read_decision() noexcept;

  const credentials* own_;  // outlives the handshake
  stage stage_ = stage::broken;
  verdict judged_ = verdict::gone;
  std::uint32_t peer_ = 0;
  std::array<std::byte, hello_bytes> hello_{};
  std::array<std::byte, nonce_bytes> answer_nonce_{};
  std::array<std::byte, hello_bytes> in_{};
  std::size_t in_bytes_ = 0;
  std::array<std::byte, hello_bytes> out_{};
  std::size_t out_bytes_ = 0;
  std::size_t out_sent_ = 0;
};

}  // namespace headway::rails::tcp
