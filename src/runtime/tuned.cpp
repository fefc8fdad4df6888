#include "runtime/tuned.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/once_a_job.hpp"
#include "wireup/profiles.hpp"

namespace headway::runtime {
namespace {

/// As the kernel names the first processor; empty where it does not (AArch64).
std::string processor_name() {
  constexpr std::string_view key = "model name";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with(key) && colon != line.npos) return line.substr(colon + 2);
  }
  return {};
}

}  // namespace

collectives::tuned_store tuned_store_of(const settings& chosen, const topology::machine& machine) {
  return {chosen.cache, wireup::own_host(),
          fmt::format("{}, table {:016x}", HEADWAY_VERSION_TEXT, collectives::built_in_table_sum()),
          fmt::format("{:016x} {}", machine.identity(), processor_name())};
}

std::optional<collectives::tuned_table> find_tuned(const settings& chosen,
                                                   const topology::machine& machine) {
  const auto store = tuned_store_of(chosen, machine);
  auto found = store.find();
  if (found) return *std::move(found);
  const auto line = fmt::format("table of algorithms {} is not used: {}", store.file().string(),
                                found.error().text);
  if (base::first_of_job(line)) base::log(base::severity::warning, "{}", line);
  return std::nullopt;
}

std::uint64_t tuned_number(const std::optional<collectives::tuned_table>& table,
                           const topology::machine& machine) {
  if (!table) return 0;
  // The shape is looked up by the number of processors, so that is part of the choice.
  return base::hash_of(fmt::format("{}/{}", text_of(*table), machine.node_processors())) | 1;
}

}  // namespace headway::runtime
