#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/pmi1/pmi_wire.hpp"

namespace headway::launch {

/// The values of an exchange in the key-value space of a PMI-1 server.
/// Shape:    key "headway-EXCHANGE-RANK-PART"; the value of part 0 is "PARTS:TEXT", of the others
///           "TEXT", each at most `value_bytes_max` long and each request at most 1024 bytes. A
///           process with an empty value puts no key.
/// Threads:  one.
class pmi_values {
 public:
  pmi_values(pmi_wire& wire, std::string space, int rank, std::size_t value_bytes_max);

  /// Puts our value of the next exchange; visible to the others after the server's barrier.
  [[nodiscard]] base::result<> put(std::span<const std::byte> value);
  /// What `rank` put last.
  [[nodiscard]] base::result<std::vector<std::byte>> value_of(int rank);

 private:
  [[nodiscard]] std::string key(int rank, std::size_t part) const;
  [[nodiscard]] base::result<> put_part(std::size_t part, std::string_view value);
  [[nodiscard]] base::result<std::string> get_part(int rank, std::size_t part);

  pmi_wire& wire_;
  std::string space_;
  int rank_;
  std::size_t part_bytes_max_;
  int exchanges_ = 0;
};

}  // namespace headway::launch
