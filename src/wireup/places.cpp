#include "wireup/places.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "wireup/process_record.hpp"

namespace headway::wireup {

base::result<places> places::read(launch::job& job) {
  const auto size = static_cast<std::size_t>(job.who().size);
  const auto own = static_cast<std::size_t>(job.who().rank);
  std::vector<std::uint64_t> kernels(size), memories(size), tuned(size);
  places made;
  made.processors_.resize(size);
  made.packages_.resize(size);
  // Each process begins with its own record, so that those of a node look up different ones.
  for (std::size_t i = 0; i < size; ++i) {
    const auto rank = (own + i) % size;
    const auto record = job.record_of(static_cast<int>(rank));
    if (!record) return std::unexpected(record.error());
    const auto place = process_record::place_in(*record);
    if (!place) return std::unexpected(place.error());
    kernels[rank] = place->kernel;
    memories[rank] = place->memory;
    made.processors_[rank] = static_cast<int>(place->processors);
    made.packages_[rank] = place->package;
    tuned[rank] = place->tuned;
  }
  made.nodes_.reserve(size);
  made.computers_.reserve(size);
  for (const auto memory : memories) made.nodes_.push_back(made.node_numbers_.of(memory));
  for (const auto kernel : kernels) made.computers_.push_back(made.computer_numbers_.of(kernel));
  made.tuned_here_ = compare_tables(tuned, made.nodes_, own);
  return made;
}

places::tables compare_tables(std::span<const std::uint64_t> tuned, std::span<const int> nodes,
                              std::size_t own) {
  HEADWAY_ASSERT(tuned.size() == nodes.size() && own < nodes.size());
  bool some = false, same = true;
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    if (nodes[i] != nodes[own]) continue;
    some |= tuned[i] != 0;
    same &= tuned[i] == tuned[own];
  }
  if (!some) return places::tables::none;
  return same ? places::tables::same : places::tables::different;
}

int places::beside(int rank) const noexcept {
  HEADWAY_ASSERT(static_cast<std::size_t>(rank) < computers_.size());
  return static_cast<int>(
      std::ranges::count(computers_, computers_[static_cast<std::size_t>(rank)]));
}

bool outnumber_processors(std::span<const process_position> of) {
  std::unordered_map<int, int> on_computer;
  return std::ranges::any_of(of, [&](const process_position& one) {
    return ++on_computer[one.computer] > one.processors;
  });
}

}  // namespace headway::wireup
