// Every strategy by its name, built in or loaded from a shared object.
#include <algorithm>
#include <array>
#include <map>

#include "base/mutex.hpp"
#include "packets/strategies/aggregate.hpp"
#include "packets/strategies/equal.hpp"
#include "packets/strategies/fifo.hpp"
#include "packets/strategies/loaded.hpp"
#include "packets/strategies/parallel.hpp"
#include "packets/strategies/sampled.hpp"
#include "packets/strategy.hpp"

namespace headway::packets {
namespace {

const strategies::fifo as_fifo;
const strategies::aggregate as_aggregate;
const strategies::equal as_equal;
const strategies::sampled as_sampled;
const strategies::parallel as_parallel;

/// A new strategy is added here.
const std::array<named_strategy, 5> every_strategy{{
    {.name = "fifo", .how = &as_fifo},
    {.name = "aggregate", .how = &as_aggregate},
    {.name = "equal", .how = &as_equal},
    {.name = "sampled", .how = &as_sampled},
    {.name = "parallel", .how = &as_parallel},
}};

base::mutex loading;

/// Strategies loaded by path, never destroyed, nor is what they hold.
std::map<std::string, const strategy*>& loaded_ones() HEADWAY_REQUIRES(loading) {
  static auto& all = *new std::map<std::string, const strategy*>;
  return all;
}

}  // namespace

std::span<const named_strategy> known_strategies() noexcept { return every_strategy; }

const strategy* find_strategy(std::string_view name) noexcept {
  const auto found = std::ranges::find(every_strategy, name, &named_strategy::name);
  return found == every_strategy.end() ? nullptr : found->how;
}

base::result<const strategy*> load_strategy(const std::string& path) {
  const base::lock_guard guard(loading);
  if (const auto found = loaded_ones().find(path); found != loaded_ones().end())
    return found->second;
  auto made = strategies::loaded::from(path);
  if (made) loaded_ones().emplace(path, *made);
  return made;
}

std::string_view name_of(const strategy& how) noexcept {
  const auto found = std::ranges::find(every_strategy, &how, &named_strategy::how);
  if (found != every_strategy.end()) return found->name;
  const base::lock_guard guard(loading);
  for (const auto& [path, one] : loaded_ones())
    if (one == &how) return path;
  return {};
}

}  // namespace headway::packets
