#include "tools/headway/top_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "watch/statistics.hpp"

namespace headway::tool {
namespace {

struct column_facts {
  column which;
  std::string_view name;
  std::size_t width;  ///< with a blank in front
  int importance;     ///< the columns of the lowest number are always there
};

// As they stand from left to right. All of importance 0, with a program of 10 characters, make 60.
constexpr std::array all_columns{
    column_facts{column::job, "JOB", 4, 0},
    column_facts{column::rank, "RANK", 6, 0},
    column_facts{column::process, "PROCESS", 8, 0},
    column_facts{column::in, "IN/s", 8, 0},
    column_facts{column::out, "OUT/s", 8, 0},
    column_facts{column::overlap, "OVERLAP", 8, 0},
    column_facts{column::waiting, "WAITING", 8, 0},
    column_facts{column::packets, "PACKETS/s", 10, 1},
    column_facts{column::total, "TOTAL", 9, 2},
    column_facts{column::library, "LIBRARY", 8, 3},
    column_facts{column::age, "AGE", 10, 4},
    column_facts{column::program, "PROGRAM", 10, 0},
};
constexpr int importance_last = 4;

constexpr const column_facts& facts_of(column which) noexcept {
  return all_columns[static_cast<std::size_t>(which)];
}

constexpr std::size_t width_with(int importance) noexcept {
  std::size_t width = 0;
  for (const auto& one : all_columns)
    if (one.importance <= importance) width += one.width;
  return width;
}
static_assert(width_with(0) == table_shape::width_min);

std::string percent(double part, double whole) {
  if (whole <= 0) return "-";
  return fmt::format("{:.0f} %", 100 * std::clamp(part / whole, 0.0, 99.99));
}

std::string bytes_text(double bytes) { return watch::short_number(bytes, "B"); }

std::string age_text(std::uint64_t ns) {
  const auto seconds = ns / 1'000'000'000;
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

/// The cells that jobs and processes have in common.
std::string rate_cell(column which, const activity& now, std::uint64_t bytes,
                      std::uint64_t age_ns) {
  if (which == column::total) return bytes_text(static_cast<double>(bytes));
  if (which == column::age) return age_text(age_ns);
  if (now.processes == 0) return "-";
  const auto processes = static_cast<double>(now.processes);
  switch (which) {
    case column::in:
      return bytes_text(now.bytes_in);
    case column::out:
      return bytes_text(now.bytes_out);
    case column::overlap:
      return percent(now.bytes_overlap, now.bytes_in + now.bytes_out);
    case column::waiting:
      return percent(now.waited_s, processes);
    case column::packets:
      return watch::short_number(now.packets);
    case column::library:
      return percent(now.library_s, processes);
    default:
      return {};
  }
}

/// A job has no rank: the number of its ranks takes the columns of the rank and of the process.
template <class CellOf>
std::string line_of_cells(const table_shape& shape, bool of_jobs, CellOf cell_of) {
  std::string line;
  std::size_t more = 0;
  for (const auto which : shape.columns) {
    if (which == column::program) {
      line += fmt::format(" {:.{}}", cell_of(which), shape.program_width - 1);
    } else if (of_jobs && which == column::rank) {
      more = facts_of(which).width;
    } else {
      const auto width = facts_of(which).width - 1 + std::exchange(more, 0);
      line += fmt::format(" {:>{}.{}}", cell_of(which), width, width);
    }
  }
  return line;
}

/// What a column is sorted by; smaller ones stand first.
double order_of(column which, const ranked& one) {
  const auto& [counts, now] = one.process;
  switch (which) {
    case column::process:
      return counts.page.first;
    case column::in:
      return -now.bytes_in;
    case column::out:
      return -now.bytes_out;
    case column::overlap:
      return -now.bytes_overlap / std::max(now.bytes_in + now.bytes_out, 1e-9);
    case column::waiting:
      return -now.waited_s;
    case column::packets:
      return -now.packets;
    case column::total:
      return -static_cast<double>(counts.bytes());
    case column::library:
      return -now.library_s;
    case column::age:
      return -static_cast<double>(counts.age_ns());
    default:
      return 0;
  }
}

}  // namespace

std::string_view name_of(column which) noexcept { return facts_of(which).name; }

table_shape table_shape::fitting(std::size_t width) {
  int importance = 0;
  while (importance < importance_last && width_with(importance + 1) <= width) ++importance;
  table_shape shape;
  for (const auto& one : all_columns)
    if (one.importance <= importance) shape.columns.push_back(one.which);
  const auto others = width_with(importance) - facts_of(column::program).width;
  const auto left = width > others ? width - others : 0;
  shape.program_width = std::clamp(left, facts_of(column::program).width, program_max + 1);
  return shape;
}

std::string heading_line(const table_shape& shape, bool of_jobs) {
  return line_of_cells(shape, of_jobs, [of_jobs](column which) -> std::string_view {
    if (of_jobs && which == column::process) return "RANKS";
    return name_of(which);
  });
}

std::string line_of(const table_shape& shape, const job_line& job) {
  return line_of_cells(shape, true, [&](column which) -> std::string {
    switch (which) {
      case column::job:
        return fmt::format("{}", job.number);
      case column::process:
        return job.size > job.processes ? fmt::format("{} of {}", job.processes, job.size)
                                        : fmt::format("{}", job.processes);
      case column::program:
        return job.program;
      default:
        return rate_cell(which, job.now, job.bytes, job.age_ns);
    }
  });
}

std::string line_of(const table_shape& shape, const process_line& process, std::size_t job_number) {
  const auto& counts = process.counts;
  return line_of_cells(shape, false, [&](column which) -> std::string {
    switch (which) {
      case column::job:
        return fmt::format("{}", job_number);
      case column::rank:
        return counts.size == 0 ? "-" : fmt::format("{}", counts.rank);
      case column::process:
        return fmt::format("{}", counts.page.first);
      case column::program:
        return counts.program;
      default:
        return rate_cell(which, process.now, counts.bytes(), counts.age_ns());
    }
  });
}

std::pair<std::size_t, std::size_t> place_of(const table_shape& shape, column which) {
  std::size_t at = 0;
  for (const auto one : shape.columns) {
    const auto width = facts_of(one).width;
    const auto length = name_of(one).size();
    if (one == which) return {one == column::program ? at + 1 : at + width - length, length};
    at += width;
  }
  return {0, 0};
}

void sort_by(std::vector<ranked>& processes, column which, bool reversed) {
  const auto name = [which](const ranked& one) -> std::string_view {
    return which == column::program ? one.process.counts.program : std::string_view();
  };
  const auto of_rank = [which](const ranked& one) {
    return which == column::rank ? one.process.counts.rank : 0;
  };
  std::ranges::stable_sort(processes, [&](const ranked& a, const ranked& b) {
    const auto& first = reversed ? b : a;
    const auto& second = reversed ? a : b;
    const auto x = std::tuple(order_of(which, first), of_rank(first), name(first));
    const auto y = std::tuple(order_of(which, second), of_rank(second), name(second));
    if (x != y) return x < y;
    return std::tuple(a.job_number, a.process.counts.rank, a.process.counts.page) <
           std::tuple(b.job_number, b.process.counts.rank, b.process.counts.page);
  });
}

}  // namespace headway::tool
