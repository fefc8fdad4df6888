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

/// The location of a segment, and what identifies it. Published by `open`.
struct address {
  std::array<char, 36> boot_id{};  ///< of the running kernel: the same in all its containers
  /// inode; processes with the same one name each other by the same pids
  std::uint64_t pid_namespace = 0;
  /// address of `proof` in the owner's memory, for an attempt to read it remotely
  std::uint64_t proof_address = 0;
  std::uint32_t pid = 0;
  std::uint32_t user = 0;
  token proof{};     ///< also in the segment's head
  std::string path;  ///< of the segment; the bell is path + ".bell"

  [[nodiscard]] std::vector<std::byte> packed() const;
  /// `bad_input`: the bytes are not a valid address.
  [[nodiscard]] static base::result<address> parse(std::span<const std::byte> bytes);
};

/// The part of an address that identifies the machine and process; the rest is empty.
[[nodiscard]] address this_process();

/// Whether that process is one of this namespace's, and runs.
[[nodiscard]] bool runs_here(const address& peer) noexcept;

[[nodiscard]] token random_token();

/// Reads another process's memory; false if the kernel refuses any of it.
[[nodiscard]] bool read_remote(pid_t pid, std::uint64_t from, std::span<std::byte> to) noexcept;
/// Writes another process's memory. False: not all of it was written.
[[nodiscard]] bool write_remote(pid_t pid, std::uint64_t to,
                                std::span<const std::byte> from) noexcept;

/// The same by the file of the process's memory, for so few bytes: the kernel neither looks the
/// process up nor checks the right to it once more, which takes longer than the copy.
constexpr std::size_t file_bytes_max = 4096;
[[nodiscard]] bool read_by_file(int file, std::uint64_t from, std::span<std::byte> to) noexcept;
[[nodiscard]] bool write_by_file(int file, std::uint64_t to,
                                 std::span<const std::byte> from) noexcept;

}  // namespace headway::rails::shm
