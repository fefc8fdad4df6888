#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/thread_annotations.hpp"
#include "processes/process.hpp"
#include "wireup/places.hpp"

namespace headway::wireup {

/// Processes of other jobs that were introduced to this one (MPI-5.0 chapter 11.8): what they
/// publish, and where they run.
/// Shape:    a record a process; never forgets one.
/// Threads:  any.
/// Progress: a mutex; `add` allocates.
class foreign_processes {
 public:
  /// `own_job`: that of this process, whose numbers of nodes and computers go on here.
  explicit foreign_processes(const places& own_job)
      : nodes_(own_job.node_numbers()), computers_(own_job.computer_numbers()) {}

  /// `record`: what the process has published in its job. No effect on one that is known.
  /// Errors:   `bad_input`: it is no record of a process.
  [[nodiscard]] base::result<> add(processes::peer_id process, std::span<const std::byte> record);
  /// Nothing: it was not introduced.
  [[nodiscard]] std::optional<std::vector<std::byte>> record_of(processes::peer_id process) const;
  [[nodiscard]] std::optional<process_position> position_of(processes::peer_id process) const;

 private:
  struct known {
    std::vector<std::byte> record;
    process_position position;
  };

  mutable base::mutex lock_;  // cold: taken when jobs meet and peers or communicators are made
  numbering nodes_ HEADWAY_GUARDED_BY(lock_), computers_ HEADWAY_GUARDED_BY(lock_);
  std::map<processes::peer_id, known> known_ HEADWAY_GUARDED_BY(lock_);
};

}  // namespace headway::wireup
