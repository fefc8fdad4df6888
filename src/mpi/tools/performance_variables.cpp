#include "mpi/tools/performance_variables.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "runtime/counters.hpp"

namespace headway::mpi::tools {
namespace {

std::vector<performance_variable> first_variables() {
  using of = performance_variable::of;
  std::vector<performance_variable> made;
  const auto counters = runtime::counter_list();
  for (std::size_t i = 0; i < counters.size(); ++i)
    made.push_back(
        {.name = counters[i].name, .why = counters[i].why, .what = of::process, .index = i});
  made.push_back({.name = "messages.posted_receives",
                  .why = "receives of the communicator that no message has matched yet",
                  .what = of::posted_receives});
  made.push_back({.name = "messages.unexpected_messages",
                  .why = "messages of the communicator that arrived before their receive",
                  .what = of::unexpected_messages});
  return made;
}

std::vector<performance_variable>& variables() HEADWAY_REQUIRES(lock) {
  static auto* const made = new std::vector<performance_variable>(first_variables());
  return *made;
}

performance_variable* find_object(std::string_view name) HEADWAY_REQUIRES(lock) {
  auto& all = variables();
  const auto found = std::ranges::find_if(all, [&](const auto& one) {
    return one.what == performance_variable::of::object && one.name == name;
  });
  return found == all.end() ? nullptr : &*found;
}

/// Adds the objects that have begun to count, and stores what all of them have counted.
void look_at_objects() HEADWAY_REQUIRES(lock) {
  if (counted() == nullptr) return;
  for (auto& counter : runtime::object_counters(*counted())) {
    auto* known = find_object(counter.name);
    if (known == nullptr)
      known = &variables().emplace_back(
          performance_variable{.name = counter.name,
                               .why = "as the statistics table shows it (docs/watching.md)",
                               .what = performance_variable::of::object});
    known->last = counter.value;
  }
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

int performance_variable::var_class() const {
  const auto counter = last_part(name);
  if (of_communicator() || counter == "per_frame_milli") return MPI_T_PVAR_CLASS_LEVEL;
  if (counter.starts_with("longest_")) return MPI_T_PVAR_CLASS_HIGHWATERMARK;
  if (counter.ends_with("_ns")) return MPI_T_PVAR_CLASS_TIMER;
  if (counter.starts_with("bytes_")) return MPI_T_PVAR_CLASS_AGGREGATE;
  return MPI_T_PVAR_CLASS_COUNTER;
}

bool performance_variable::counts() const {
  const int its = var_class();
  return its == MPI_T_PVAR_CLASS_COUNTER || its == MPI_T_PVAR_CLASS_AGGREGATE ||
         its == MPI_T_PVAR_CLASS_TIMER;
}

const std::vector<performance_variable>& performance_variables() { return variables(); }

std::size_t update_performance_variables() {
  look_at_objects();
  return variables().size();
}

void keep_last_values() {
  if (counted() == nullptr) return;
  look_at_objects();
  for (auto& one : variables())
    if (one.what == performance_variable::of::process)
      one.last = runtime::read_counter(*counted(), one.index);
}

std::uint64_t value_of(std::size_t index, communicator* bound) {
  HEADWAY_ASSERT(index < variables().size());
  auto& one = variables()[index];
  if (one.of_communicator() && bound == nullptr) return 0;  // freed by another thread
  switch (one.what) {
    case performance_variable::of::process:
      return counted() == nullptr ? one.last : runtime::read_counter(*counted(), one.index);
    case performance_variable::of::object:
      look_at_objects();
      return variables()[index].last;
    case performance_variable::of::posted_receives:
      return messages::exchange::count_waiting(bound->messages()).posted;
    case performance_variable::of::unexpected_messages:
      return messages::exchange::count_waiting(bound->messages()).unexpected;
  }
  return 0;
}

}  // namespace headway::mpi::tools
