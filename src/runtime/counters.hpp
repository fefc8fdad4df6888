#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/instance.hpp"

namespace headway::runtime {

/// A counter that every instance has.
struct counter_entry {
  const char* name;  ///< begins with the module: "progress.sleeps"
  const char* why;
};
/// All of them. They are counted without any setting.
[[nodiscard]] std::span<const counter_entry> counter_list() noexcept;
/// The value of the counter at this place of the list.
/// Threads:  any.
[[nodiscard]] std::uint64_t read_counter(const instance& of, std::size_t index);

struct named_count {
  std::string name;  ///< kind, object and counter: "queue.machine.runs", "rail.shm.bytes_out"
  std::uint64_t value = 0;
};
/// The counters of single objects as they are now: queues, polling points, rails. Without
/// HEADWAY_STATS some objects count nothing, and are missing. Those of threads, which come and go,
/// are left out, and so is the name of the job. Takes about 20 us.
/// Threads:  any.
[[nodiscard]] std::vector<named_count> object_counters(const instance& of);

}  // namespace headway::runtime
