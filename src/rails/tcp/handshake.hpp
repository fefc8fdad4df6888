#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "authentication/handshake.hpp"
#include "processes/process.hpp"
#include "rails/job_keys.hpp"

namespace headway::rails::tcp {

/// What a process shows of itself when a connection is made: its name, the keys that it shares with
/// others, and whether it wants what follows the handshake to be encrypted.
struct credentials {
  authentication::key secret{};  ///< of the job
  processes::process_id self{};
  bool encrypts = false;
  const job_keys* others = nullptr;  ///< of other jobs; null: all have this secret

  /// Nothing: that job's processes are not known.
  [[nodiscard]] std::optional<authentication::key> key_for(std::uint64_t job) const {
    return job == self.job || !others ? std::optional(secret) : others->find(job);
  }
};

/// The keys of an encrypted connection, for each direction.
struct stream_keys {
  authentication::key send, receive;
};

/// The answering side's decision about an authenticated dialler.
enum class verdict : std::uint8_t {
  welcome = 1,           ///< this connection is the one to use
  taken = 2,             ///< another connection of the same pair is or will be
  gone = 3,              ///< the pair's connection has been closed for good
  other_encryption = 4,  ///< one of the two encrypts and the other does not
};

/// What a process says in a handshake so that both go on where they were.
struct resume_point {
  std::uint64_t received = 0;  ///< bytes of the other's stream, over all connections before
  std::uint64_t calls = 0;     ///< that it has made, this one included: earlier ones are void

  bool operator==(const resume_point&) const = default;
};

/// The authenticated handshake of a connection between two processes. The hello contains the names
/// of both (job, rank) and whether the dialler encrypts, the decision a verdict; both contain
/// the resume point of their side.
/// Shape:    messages of 96, 64, 32 and 56 bytes.
/// Threads:  the caller serializes.
/// Errors:   `broken` for ever after the first invalid message. A hello for another process, from
///           one with our own name or of a job that is not known, is invalid, too.
/// Source:   authentication/handshake.hpp. Fuzzed by tests/fuzz/tcp_handshake_fuzz.cpp.
class handshake {
 public:
  using stage = authentication::handshake::stage;

  /// The job of `peer` is known.
  [[nodiscard]] static handshake dial(const credentials& own, processes::process_id peer,
                                      const resume_point& at) noexcept;
  [[nodiscard]] static handshake answer(const credentials& own) noexcept;

  [[nodiscard]] stage now() const noexcept { return talk_.now(); }
  /// The name of the other side. For the answerer: after `hello` unproved; from `judging` on
  /// proved.
  [[nodiscard]] processes::process_id peer() const noexcept { return peer_; }
  /// For the answerer, as `peer`: whether the dialler encrypts.
  [[nodiscard]] bool peer_encrypts() const noexcept { return peer_encrypts_; }
  /// Of a handshake that is `finished`.
  [[nodiscard]] verdict judged() const noexcept { return judged_; }
  /// Of one that is `finished`, or for the answerer `judging`: of the other side.
  [[nodiscard]] const resume_point& peer_resume_point() const noexcept { return peer_at_; }
  /// Of a handshake that is `finished` and whose sides encrypt: no other connection has the same.
  [[nodiscard]] stream_keys keys() const noexcept;

  /// What to send now; report by `sent` how much was sent.
  [[nodiscard]] std::span<const std::byte> output() const noexcept { return talk_.output(); }
  void sent(std::size_t bytes) noexcept { talk_.sent(bytes); }

  /// Where to read the next bytes to, and at most how many; report by `received` how many came.
  /// Empty: nothing is expected now.
  [[nodiscard]] std::span<std::byte> wanted() noexcept { return talk_.wanted(); }
  stage received(std::size_t bytes) noexcept;

  /// For the answerer, at `judging`.
  void decide(verdict v, const resume_point& at) noexcept;

 private:
  handshake(const credentials& own, const authentication::handshake& talk, bool dials) noexcept
      : own_(&own), talk_(talk), dials_(dials) {}
  [[nodiscard]] bool is_for_us() noexcept;

  const credentials* own_;  // outlives the handshake
  authentication::handshake talk_;
  bool dials_;
  bool peer_encrypts_ = false;
  processes::process_id peer_;
  verdict judged_ = verdict::gone;
  resume_point peer_at_;
};

}  // namespace headway::rails::tcp
