#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "progress/core/settings.hpp"
#include "topology/machine.hpp"

namespace headway::progress {

/// Where one idle poller runs.
struct poller_site {
  std::string name;             ///< of its thread
  std::vector<int> processors;  ///< ascending; empty on an imagined machine
};

/// The sites for one poller at each chosen place of `which`, at least one: if no place is odd, the
/// first is taken. Processors are those of the machine's tree, which is restricted to the cpuset.
[[nodiscard]] std::vector<poller_site> poller_sites(const topology::machine& machine,
                                                    topology::level which, placing chosen);

/// The site without the processors in `bound`, to which computing threads are bound. Empty: the
/// poller rests, because another core is free. If no core is free, the site is unchanged.
[[nodiscard]] std::vector<int> free_part(const topology::machine& machine,
                                         const std::vector<int>& site,
                                         const std::vector<int>& bound);

/// Finds the processors of every core that a computing thread of this process is bound to: a thread
/// of the program that may run on one core only and ran for at least a twentieth of the time since
/// the last call; one that is seen for the first time counts at once.
/// Threads:  one at a time.
/// Progress: some system calls for each thread of the process: about 5 us each.
class bound_threads {
 public:
  [[nodiscard]] std::vector<int> find(const topology::machine& machine);

 private:
  struct seen {
    int thread;
    std::uint64_t ran_ns;
  };
  std::vector<seen> last_;
  std::uint64_t last_ns_ = 0;
};

}  // namespace headway::progress
