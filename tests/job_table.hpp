#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <string_view>

#include "processes/table.hpp"

namespace headway::testing {

/// A table of processes, kept until the program ends: it outlives the drivers of any test.
inline processes::table& new_table() {
  static std::mutex lock;
  static std::list<processes::table> all;
  const std::lock_guard guard(lock);
  return all.emplace_back();
}

/// The same with the processes of a job: rank r is peer r, as a process knows its own job.
inline processes::table& table_of(std::string_view job, std::uint32_t size) {
  auto& made = new_table();
  for (std::uint32_t rank = 0; rank < size; ++rank)
    static_cast<void>(made.add({.job = processes::job_id_of(job), .rank = rank}));
  return made;
}

}  // namespace headway::testing
