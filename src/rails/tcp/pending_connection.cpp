#include "rails/tcp/pending_connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace headway::rails::tcp {

pending_connection pending_connection::dialled(unique_fd fd, const credentials& own,
                                               processes::process_id peer, const resume_point& at,
                                               std::uint64_t now_ns) noexcept {
  return {std::move(fd), handshake::dial(own, peer, at), true, now_ns};
}

pending_connection pending_connection::accepted(unique_fd fd, const credentials& own,
                                                std::uint64_t now_ns) noexcept {
  return {std::move(fd), handshake::answer(own), false, now_ns};
}

/// A handshake message is smaller than any send buffer, and nothing is unsent before it: if it
/// cannot be sent whole, the connection is useless.
bool pending_connection::flush() noexcept {
  const auto due = shake_.output();
  if (due.empty()) return true;
  const auto wrote = send(fd_.get(), due.data(), due.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (wrote != static_cast<ssize_t>(due.size())) {
    error_ = wrote < 0 ? errno : EPIPE;
    return false;
  }
  shake_.sent(due.size());
  return true;
}

/// Reads once. False: nothing more now, or `error_` is set.
bool pending_connection::receive() noexcept {
  const auto room = shake_.wanted();
  const auto got = recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (got > 0) {
    shake_.received(static_cast<std::size_t>(got));
    return true;
  }
  if (got == 0) {
    error_ = ECONNRESET;
  } else if (errno != EAGAIN && errno != EINTR) {
    error_ = errno;
  }
  return false;
}

pending_connection::state pending_connection::advance() noexcept {
  if (!connected_) {
    error_ = call_outcome(fd_.get());
    if (error_ == EINPROGRESS) return error_ = 0, state::going;
    if (error_ != 0) return state::hung_up;
    connected_ = true;
  }
  while (true) {
    if (!flush()) return state::hung_up;
    switch (shake_.now()) {
      case handshake::stage::broken:
        return state::not_ours;
      case handshake::stage::judging:
        return state::judging;
      case handshake::stage::finished:
        return state::finished;
      default:
        break;
    }
    if (!receive()) return error_ != 0 ? state::hung_up : state::going;
  }
}

bool pending_connection::decide(verdict v, const resume_point& at) noexcept {
  shake_.decide(v, at);
  return flush();
}

}  // namespace headway::rails::tcp
