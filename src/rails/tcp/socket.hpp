#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "rails/tcp/address.hpp"
#include "rails/tcp/settings.hpp"

namespace headway::rails::tcp {

/// Owns a descriptor.
class unique_fd {
 public:
  unique_fd() = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~unique_fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

/// A non-blocking socket that listens on this address only, at a port that the kernel chooses; if
/// `device` is given, only for what comes in there.
struct listener {
  unique_fd fd;
  endpoint at;
};
[[nodiscard]] base::result<listener> listen_on(const ip_address& ip, const settings& s,
                                               const std::string& device = {});

/// A non-blocking socket that is connecting to `to`; `error` is 0 or EINPROGRESS, otherwise it
/// failed.
struct call {
  unique_fd fd;
  int error = 0;
};
[[nodiscard]] call start_call(const route& way, const settings& s) noexcept;

/// The next accepted connection. No descriptor: there is none (`error` EAGAIN) or it failed.
[[nodiscard]] call accept_call(int listening) noexcept;

/// The state of a connection attempt: 0 connected, EINPROGRESS not yet, otherwise the error.
[[nodiscard]] int call_outcome(int fd) noexcept;

/// Options of a connection: no delay, and keep-alive probes to an idle peer's machine.
void tune_connection(int fd, const settings& s) noexcept;

/// A thread that sleeps on `fd` is woken only when so many bytes are there. Returns the actual
/// value.
void set_low_water(int fd, int bytes) noexcept;

/// Bytes that the peer's kernel has not acknowledged yet.
[[nodiscard]] std::optional<std::size_t> unacknowledged_bytes(int fd) noexcept;

/// For how long the peer's machine has not answered what was sent twice; 0: nothing was.
[[nodiscard]] std::uint64_t unanswered_ns(int fd) noexcept;

/// For how long the peer's machine has neither sent nor acknowledged anything; no more precise than
/// the kernel's ticks.
[[nodiscard]] std::uint64_t silence_ns(int fd) noexcept;
/// Makes `close` reset the connection: the kernel need not deliver what is left.
void abandon(int fd) noexcept;

/// Whether the other end has closed and nothing is left to read.
[[nodiscard]] bool hung_up(int fd) noexcept;

/// The address of the other end, for the log.
[[nodiscard]] std::string caller_name(int fd);

/// Adds, changes or removes a descriptor of an epoll set.
class watch_set {
 public:
  [[nodiscard]] base::result<> open();
  void close() noexcept { fd_.reset(); }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool add(int fd, std::uint32_t events, std::uint64_t word) noexcept;
  [[nodiscard]] bool change(int fd, std::uint32_t events, std::uint64_t word) noexcept;
  void remove(int fd) noexcept;

 private:
  unique_fd fd_;
};

}  // namespace headway::rails::tcp
