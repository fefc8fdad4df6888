#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/headway/top_counts.hpp"

namespace headway::tool {

/// The columns of the tables of jobs and of ranks.
enum class column : std::uint8_t {
  job,
  rank,
  process,
  in,
  out,
  overlap,
  waiting,
  packets,
  total,
  library,
  age,
  program,
};

/// The heading of a column, as the screen and the help have it.
[[nodiscard]] std::string_view name_of(column which) noexcept;

/// The columns that fit into a width, in their order; the most important ones first to be taken.
/// Shape:    `program` is the last one and takes what is left, up to `program_max` characters.
struct table_shape {
  static constexpr std::size_t width_min = 60;
  static constexpr std::size_t program_max = 32;
  std::vector<column> columns;
  std::size_t program_width = 0;

  [[nodiscard]] static table_shape fitting(std::size_t width);
};

/// A line of a table. Every character is printable ASCII, as `watch::make_safe` leaves it.
[[nodiscard]] std::string heading_line(const table_shape& shape, bool of_jobs);
[[nodiscard]] std::string line_of(const table_shape& shape, const job_line& job);
[[nodiscard]] std::string line_of(const table_shape& shape, const process_line& process,
                                  std::size_t job_number);
/// Where the heading of a column stands in the line: its begin and its length.
[[nodiscard]] std::pair<std::size_t, std::size_t> place_of(const table_shape& shape, column which);

/// A process in the table of ranks.
struct ranked {
  process_line process;
  std::size_t job_number = 0;
};

/// Sorts by a column: the largest first for rates and sums, the smallest first for the others;
/// equal ones by job and rank.
void sort_by(std::vector<ranked>& processes, column which, bool reversed);

}  // namespace headway::tool
