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

/// A non-blocking socket of a meeting, and what is done with it while waiting is allowed.
/// Threads:  one.
/// Progress: waits for the other side, at most until `deadline_ns` (base::now_ns).
/// Errors:   `peer_lost` when the other side hung up, `timed_out`.
class meeting_socket {
 public:
  meeting_socket() = default;
  explicit meeting_socket(int descriptor) noexcept : descriptor_(descriptor) {}
  meeting_socket(meeting_socket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  meeting_socket& operator=(meeting_socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~meeting_socket();

  [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Where the other side is, for people.
  [[nodiscard]] std::string other_end() const;

  [[nodiscard]] base::result<> send(std::span<const std::byte> bytes, std::uint64_t deadline_ns);
  [[nodiscard]] base::result<> receive(std::span<std::byte> bytes, std::uint64_t deadline_ns);
  /// The same with their number before them.
  [[nodiscard]] base::result<> send_block(std::span<const std::byte> bytes,
                                          std::uint64_t deadline_ns);
  [[nodiscard]] base::result<std::vector<std::byte>> receive_block(std::size_t bytes_max,
                                                                   std::uint64_t deadline_ns);

 private:
  int descriptor_ = -1;
};

/// An address of a meeting, as the resolver gave it.
struct meeting_place {
  sockaddr_storage address = {};
  socklen_t bytes = 0;

  [[nodiscard]] static base::result<std::vector<meeting_place>> find(const std::string& host,
                                                                     const std::string& port);
  /// Not open: nobody listens there, or nobody answers within two seconds.
  [[nodiscard]] meeting_socket call() const;
  /// Not open: it is no address of ours, or somebody listens there.
  [[nodiscard]] meeting_socket listen() const;
};

}  // namespace headway::launch
