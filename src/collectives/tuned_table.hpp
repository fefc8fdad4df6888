#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "collectives/settings.hpp"

namespace headway::collectives {

/// The algorithms of one operation for a range of sizes, the quickest first: what a call cannot use
/// is passed over.
struct tuned_row {
  collective what{};
  std::int64_t bytes_max = 0;                      ///< as in a rule
  std::array<algorithm, algorithm_count> order{};  ///< behind the last: `automatic`

  bool operator==(const tuned_row&) const = default;
};

/// What `headway tune` has measured for one shape of job: that many ranks on one node.
/// Shape:    rows in the order of `collective`; within one, by size. Sizes above its last row, and
///           operations without rows, were not measured.
struct tuned_shape {
  int ranks = 0;
  int processors = 0;             ///< that these ranks could use together
  std::uint64_t measured_at = 0;  ///< seconds since 1970
  std::vector<tuned_row> rows;

  static constexpr int ranks_max = 4096;

  [[nodiscard]] std::span<const tuned_row> rows_of(collective what) const noexcept;
  bool operator==(const tuned_shape&) const = default;
};

/// All that was measured on one machine.
struct tuned_table {
  std::string version;  ///< of the library and of its own table: its algorithms may be others
  std::string machine;  ///< the table is not used if it changes
  std::vector<tuned_shape> shapes;

  static constexpr std::size_t shapes_max = 64;

  /// Null: that shape was not measured.
  [[nodiscard]] const tuned_shape* shape_of(int ranks, int processors) const noexcept;
  /// Replaces what was measured for that shape before; beyond `shapes_max` the oldest goes.
  void put(tuned_shape made);
  bool operator==(const tuned_table&) const = default;
};

/// As lines of text, with a checksum at the end:
///
///     headway collectives 1
///     version 0.1.0, table 0123456789abcdef
///     machine 0123456789abcdef AMD EPYC 7B13
///     shape 4 ranks 2 processors at 1764000000
///     row allreduce 181 slots shared doubling         up to 181 bytes, the quickest first
///     …
///     sum 0123456789abcdef
[[nodiscard]] std::string text_of(const tuned_table& t);

/// Errors:   `bad_input` with the kind of error and the line. Any bytes may be passed.
[[nodiscard]] base::result<tuned_table> tuned_table_of(std::string_view text);

/// Changes when a row of the built-in table does, and with it the algorithms that there are.
[[nodiscard]] std::uint64_t built_in_table_sum() noexcept;

}  // namespace headway::collectives
