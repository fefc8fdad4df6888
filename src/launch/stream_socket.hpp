#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace headway::launch {

/// A non-blocking TCP socket, with calls that wait until a deadline.
/// Threads:  one.
/// Progress: waits for the other side, at most until `deadline_ns` (base::machine_now_ns).
/// Errors:   `peer_lost` when the other side hung up, `timed_out`.
class stream_socket {
 public:
  stream_socket() = default;
  explicit stream_socket(int descriptor) noexcept : descriptor_(descriptor) {}
  stream_socket(stream_socket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  stream_socket& operator=(stream_socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~stream_socket();

  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The other side's address as text, for messages.
  [[nodiscard]] std::string other_end() const;

  [[nodiscard]] base::result<> send(std::span<const std::byte> bytes, std::uint64_t deadline_ns);
  [[nodiscard]] base::result<> receive(std::span<std::byte> bytes, std::uint64_t deadline_ns);
  /// The same, preceded by their number.
  [[nodiscard]] base::result<> send_block(std::span<const std::byte> bytes,
                                          std::uint64_t deadline_ns);
  [[nodiscard]] base::result<std::vector<std::byte>> receive_block(std::size_t bytes_max,
                                                                   std::uint64_t deadline_ns);

 private:
  int descriptor_ = -1;
};

/// An address with a port, from the resolver.
struct stream_address {
  sockaddr_storage address = {};
  socklen_t bytes = 0;

  /// Errors:   the resolver's reason and nothing else: the caller names what it was asked for.
  [[nodiscard]] static base::result<std::vector<stream_address>> find(const std::string& host,
                                                                      const std::string& port);
  /// Connects. Not open: no process listens there, or none answers within two seconds.
  [[nodiscard]] stream_socket call() const;
  /// Not open: it is not an address of this machine, or another process listens there.
  [[nodiscard]] stream_socket listen() const;
};

}  // namespace headway::launch
