#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_annotations.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/tools/interface.hpp"

namespace headway::mpi::tools {

/// A performance variable: a counter of the process, of one of its queues, polling points or rails,
/// or of a communicator.
struct performance_variable {
  enum class of : std::uint8_t { process, object, unexpected_messages, posted_receives };

  std::string name;
  std::string why;
  of what;
  std::size_t index = 0;   ///< of the process: in runtime::counter_list
  std::uint64_t last = 0;  ///< the last value of an instance that has ended

  [[nodiscard]] int var_class() const;
  [[nodiscard]] bool of_communicator() const noexcept {
    return what == of::unexpected_messages || what == of::posted_receives;
  }
  /// Whether it only grows: then each handle counts from zero, and can be stopped and reset.
  [[nodiscard]] bool counts() const;
};

/// Those that there are. More come when MPI starts and rails, queues and polling points begin to
/// count; none goes away or changes its place.
[[nodiscard]] const std::vector<performance_variable>& performance_variables()
    HEADWAY_REQUIRES(lock);

/// Adds those that have begun to count since the last look. Returns how many there are.
std::size_t update_performance_variables() HEADWAY_REQUIRES(lock);

/// The value now, or the last one after MPI has ended. `bound`: the communicator of a variable that
/// has one.
[[nodiscard]] std::uint64_t value_of(std::size_t index, communicator* bound) HEADWAY_REQUIRES(lock);

/// Keeps the values of an instance that is about to end.
void keep_last_values() HEADWAY_REQUIRES(lock);

void free_sessions() HEADWAY_REQUIRES(lock);

}  // namespace headway::mpi::tools
