#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "watch/page.hpp"

namespace headway::tool {

/// A process, and which of its pages: one with several copies of the library has several.
using page_key = std::pair<pid_t, int>;

/// What a page says since its process began, in the sums that `headway top` shows.
struct process_counts {
  page_key page;
  std::uint64_t job = 0;             ///< equal for the processes of a job
  std::uint64_t rank = 0, size = 0;  ///< size 0: it belongs to no job
  std::string program;
  std::uint64_t began_ns = 0, written_ns = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0, packets = 0, bytes_overlap = 0;
  std::uint64_t waited_ns = 0;   ///< in calls of the program's threads that had to wait
  std::uint64_t library_ns = 0;  ///< that the library's threads worked

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_in + bytes_out; }
  [[nodiscard]] std::uint64_t age_ns() const noexcept;
};

/// The image must have passed `watch::make_safe`. `process`: whose page it is.
[[nodiscard]] process_counts counts_of(const watch::page_image& image, page_key page);

/// What processes do, in each second; of several processes the sum.
struct activity {
  std::size_t processes = 0;  ///< 0: nothing is known yet
  double bytes_in = 0, bytes_out = 0, packets = 0, bytes_overlap = 0;
  double waited_s = 0, library_s = 0;

  void add(const activity& other) noexcept;
};

/// A process as `headway top` shows it.
struct process_line {
  process_counts counts;
  activity now;
};

/// All processes of a job that show something; a process without a job is one of its own.
struct job_line {
  std::uint64_t job = 0;
  std::size_t number = 0;  ///< from 1, in the order in which they began
  std::string program;
  std::uint64_t processes = 0, size = 0;
  std::uint64_t bytes = 0, age_ns = 0;
  activity now;
};

/// Makes rates out of counters that are looked at again and again.
/// Shape:    keeps one entry for each process of the last look.
/// Threads:  one.
class rate_meter {
 public:
  /// The processes that are there now; `now_ns` of a steady clock. A process that has not written
  /// for `silence_max_ns` has no rates.
  [[nodiscard]] std::vector<process_line> look(std::vector<process_counts> found,
                                               std::uint64_t now_ns);
  static constexpr std::uint64_t silence_max_ns = 5'000'000'000;

 private:
  struct entry {
    process_counts last;
    std::uint64_t changed_ns = 0;
    activity now;
  };
  std::map<page_key, entry> entries_;
};

/// The jobs of these processes, the oldest one first.
[[nodiscard]] std::vector<job_line> jobs_of(const std::vector<process_line>& processes);

}  // namespace headway::tool
