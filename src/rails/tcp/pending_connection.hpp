#pragma once

#include <cstdint>

#include "rails/tcp/handshake.hpp"
#include "rails/tcp/socket.hpp"

namespace headway::rails::tcp {

/// A connection that is being made: called by this process, or accepted and not authenticated yet.
/// Threads:  the reaper.
/// Progress: `advance` goes as far as the socket lets it, and never waits.
class pending_connection {
 public:
  enum class state : std::uint8_t {
    going,
    judging,   ///< the caller is authenticated: `decide`
    finished,  ///< the called process has sent its verdict
    hung_up,   ///< the connection failed or was closed; the reason is in `error`
    not_ours,  ///< the other side is not of this job, or does not speak the protocol
  };

  /// This process calls `peer`; the connection may still be being made.
  [[nodiscard]] static pending_connection dialled(unique_fd fd, const credentials& own,
                                                  processes::process_id peer,
                                                  const resume_point& at,
                                                  std::uint64_t now_ns) noexcept;
  [[nodiscard]] static pending_connection accepted(unique_fd fd, const credentials& own,
                                                   std::uint64_t now_ns) noexcept;

  state advance() noexcept;
  /// At `judging`, as `handshake::decide`. False: the verdict could not be sent, the connection is
  /// useless.
  [[nodiscard]] bool decide(verdict v, const resume_point& at) noexcept;

  [[nodiscard]] bool outgoing() const noexcept { return outgoing_; }
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  /// This process has called and sent its proof: the other side may now rely on this connection.
  [[nodiscard]] bool committed() const noexcept {
    return outgoing_ && shake_.now() == handshake::stage::decision;
  }
  /// Nothing has arrived on this connection.
  [[nodiscard]] bool silent() const noexcept { return shake_.now() == handshake::stage::hello; }
  [[nodiscard]] processes::process_id peer() const noexcept { return shake_.peer(); }
  [[nodiscard]] bool peer_encrypts() const noexcept { return shake_.peer_encrypts(); }
  [[nodiscard]] verdict judged() const noexcept { return shake_.judged(); }
  [[nodiscard]] const resume_point& peer_resume_point() const noexcept {
    return shake_.peer_resume_point();
  }
  [[nodiscard]] stream_keys keys() const noexcept { return shake_.keys(); }
  [[nodiscard]] std::uint64_t since_ns() const noexcept { return since_ns_; }
  [[nodiscard]] int error() const noexcept { return error_; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] unique_fd take_fd() noexcept { return std::move(fd_); }

 private:
  pending_connection(unique_fd fd, handshake shake, bool outgoing, std::uint64_t now_ns) noexcept
      : fd_(std::move(fd)),
        shake_(shake),
        outgoing_(outgoing),
        connected_(!outgoing),
        since_ns_(now_ns) {}

  [[nodiscard]] bool flush() noexcept;
  [[nodiscard]] bool receive() noexcept;

  unique_fd fd_;
  handshake shake_;
  bool outgoing_;
  bool connected_;
  std::uint64_t since_ns_;
  int error_ = 0;
};

}  // namespace headway::rails::tcp
