#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "wireup/nic_addresses.hpp"

namespace headway::wireup {

/// Where a process runs and by what it chooses, in numbers that are equal for two processes if they
/// share that resource.
struct process_place {
  std::uint64_t kernel = 0;      ///< of the running kernel: processors are shared
  std::uint64_t memory = 0;      ///< of that kernel and /dev/shm: memory is shared
  std::uint32_t processors = 0;  ///< of that kernel
  std::int32_t package = -1;     ///< that it is bound to, by the kernel's number; -1: to none alone
  std::uint64_t tuned = 0;       ///< of the table of algorithms that it has read; 0: none

  /// `processors` and `package` as the topology has them.
  [[nodiscard]] static process_place own(std::uint32_t processors, std::int32_t package = -1);
  bool operator==(const process_place&) const = default;
};

/// Everything that a process publishes for the others of its job, in one value of the key-value
/// exchange.
/// Shape:    kernel and memory of eight bytes, processors and package of four, tuned of eight; for
///           the host's name a length of one byte; a count of one byte, for each driver a length of
///           one byte, its name, a length of four bytes, what `pack_nic_addresses` writes.
struct process_record {
  process_place place = {};
  std::string host = {};                                           ///< its name in profiles
  std::map<std::string, std::vector<nic_address>> addresses = {};  ///< by driver

  [[nodiscard]] std::vector<std::byte> pack() const;
  /// Errors:   `bad_input`: not what `pack` wrote.
  [[nodiscard]] static base::result<process_record> unpack(std::span<const std::byte> bytes);
  /// Only the place, which is at the beginning.
  [[nodiscard]] static base::result<process_place> place_in(std::span<const std::byte> bytes);

  bool operator==(const process_record&) const = default;
};

}  // namespace headway::wireup
