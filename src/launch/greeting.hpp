#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "launch/job.hpp"

namespace headway::launch {

/// What proves that two processes know the same secret, and what the job is made of.
struct meeting_key {
  std::array<std::byte, 32> bytes{};

  [[nodiscard]] static meeting_key of(std::string_view secret) noexcept;
  /// The secret of the job that this nonce begins.
  [[nodiscard]] job_secret job(std::span<const std::byte> nonce) const noexcept;
};

/// How the host of a meeting answers a guest.
enum class reception : std::uint32_t {
  welcome = 1,
  full,         ///< all have come already
  other_count,  ///< it expects another number of processes
};

/// The first words of a guest and the host at a meeting: both prove that they know the secret, by a
/// keyed hash over both nonces, the host first; then the host gives the guest its number. Bytes in,
/// bytes out: whoever has the socket moves them.
///
/// Shape:    hello (guest): magic, nonce. challenge (host): nonce, hash. proof (guest): the number
///           of processes that it expects, hash. decision (host): reception, rank, the job's nonce,
///           hash. Numbers have four bytes, the low one first.
/// Errors:   `broken`: the other side does not know the secret, or speaks something else. Fuzzed by
///           tests/fuzz/greeting_fuzz.cpp.
/// Source:   the same shape as rails/tcp/handshake.hpp.
class greeting {
 public:
  enum class stage : std::uint8_t { hello, challenge, proof, judging, decision, finished, broken };
  static constexpr std::size_t nonce_bytes = 32, hash_bytes = 32;

  /// Begins as a guest: `output` is its hello.
  [[nodiscard]] static greeting guest(const meeting_key& key, std::uint32_t processes) noexcept;
  [[nodiscard]] static greeting host(const meeting_key& key) noexcept;

  [[nodiscard]] stage at() const noexcept { return stage_; }
  /// How many bytes the other side says next; 0: none.
  [[nodiscard]] std::size_t expected_bytes() const noexcept;
  /// Exactly so many have come.
  stage received(std::span<const std::byte> bytes) noexcept;
  /// What is to be sent now; cleared by the next `received`.
  [[nodiscard]] std::span<const std::byte> output() const noexcept {
    return std::span(out_).first(out_bytes_);
  }

  /// Of a host that is `judging`: what the guest expects.
  [[nodiscard]] std::uint32_t processes() const noexcept { return processes_; }
  void decide(reception how, std::uint32_t rank, std::span<const std::byte> job_nonce) noexcept;

  // Of a guest that is `finished`.
  [[nodiscard]] reception received_as() const noexcept { return reception_; }
  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  /// How many the host expects.
  [[nodiscard]] std::uint32_t host_processes() const noexcept { return host_processes_; }
  [[nodiscard]] std::span<const std::byte> job_nonce() const noexcept { return job_nonce_; }
  void expect(std::uint32_t processes) noexcept { host_processes_ = processes; }

 private:
  using hash = std::array<std::byte, hash_bytes>;
  using nonce = std::array<std::byte, nonce_bytes>;

  explicit greeting(const meeting_key& key) noexcept : key_(key) {}
  [[nodiscard]] hash hash_of(std::string_view label,
                             std::span<const std::byte> said) const noexcept;
  [[nodiscard]] bool proves(std::string_view label, std::span<const std::byte> said,
                            std::span<const std::byte> given) const noexcept;
  void say(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] stage read(std::span<const std::byte> bytes) noexcept;

  meeting_key key_;
  stage stage_ = stage::hello;
  nonce guest_nonce_{};
  nonce host_nonce_{};
  nonce job_nonce_{};
  std::uint32_t processes_ = 0;
  std::uint32_t host_processes_ = 0;
  reception reception_ = reception::full;
  std::uint32_t rank_ = 0;
  std::array<std::byte, 128> out_{};
  std::size_t out_bytes_ = 0;
};

}  // namespace headway::launch
