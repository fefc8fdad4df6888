#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "rails/shm/layout.hpp"

namespace headway::rails::shm {

/// Where a segment is, and how to know that it is the right one. What `open` publishes.
struct address {
  std::array<char, 36> boot_id{};   ///< of the running kernel: the same in all its containers
  std::uint64_t pid_namespace = 0;  ///< inode; pids mean the same where it is the same
  std::uint64_t proof_address = 0;  ///< of `proof` in the owner's memory: to try a remote read
  std::uint32_t pid = 0;
  std::uint32_t user = 0;
  token proof{};     ///< also in the segment's head
  std::string path;  ///< of the segment; the bell is path + ".bell"

  [[nodiscard]] std::vector<std::byte> packed() const;
  /// `bad_input` when the bytes are no address.
  [[nodiscard]] static base::result<address> parse(std::span<const std::byte> bytes);
};

/// What of an address says where this process runs; the rest is empty.
[[nodiscard]] address this_process();

[[nodiscard]] token random_token();

/// Reads another process's memory; false when the kernel refuses any of it.
[[nodiscard]] bool read_remote(pid_t pid, std::uint64_t from, std::span<std::byte> to) noexcept;
/// The same the other way. False: some of it, or nothing, was written.
[[nodiscard]] bool write_remote(pid_t pid, std::uint64_t to,
                                std::span<const std::byte> from) noexcept;

}  // namespace headway::rails::shm
