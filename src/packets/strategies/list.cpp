#include <algorithm>
#include <array>

#include "packets/strategies/aggregate.hpp"
#include "packets/strategies/equal.hpp"
#include "packets/strategies/fifo.hpp"
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

/// A new strategy is a line here.
const std::array<named_strategy, 5> every_strategy{{
    {.name = "fifo", .how = &as_fifo},
    {.name = "aggregate", .how = &as_aggregate},
    {.name = "equal", .how = &as_equal},
    {.name = "sampled", .how = &as_sampled},
    {.name = "parallel", .how = &as_parallel},
}};

}  // namespace

std::span<const named_strategy> known_strategies() noexcept { return every_strategy; }

const strategy* find_strategy(std::string_view name) noexcept {
  const auto found = std::ranges::find(every_strategy, name, &named_strategy::name);
  return found == every_strategy.end() ? nullptr : found->how;
}

}  // namespace headway::packets
