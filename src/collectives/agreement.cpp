#include "collectives/agreement.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/operators.hpp"
#include "collectives/schedule_cache.hpp"
#include "datatypes/layout.hpp"

namespace headway::collectives {

std::uint64_t agree(team& ranks, std::uint64_t mine) {
  const auto steps = new_schedule();
  std::uint64_t all = 0;
  const auto& type = datatypes::layout::of(datatypes::number::uint64);
  allreduce_doubling(*steps, ranks,
                     {.send = &mine,
                      .receive = &all,
                      .count = 1,
                      .type = &type,
                      .op = *predefined(operation::band, datatypes::number::uint64)});
  steps->bind(ranks, ranks.begin_agreement());
  return steps->run() == messages::outcome::ok ? all : 0;
}

}  // namespace headway::collectives
