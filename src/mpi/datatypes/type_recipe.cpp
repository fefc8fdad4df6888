#include "mpi/datatypes/type_recipe.hpp"

#include <algorithm>
#include <limits>

#include "base/assert.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi {

void type_recipe::counts(integers values, std::int64_t how_many) {
  for (std::int64_t i = 0; i < how_many; ++i) count(values[i]);
}

void type_recipe::integers_of(const int* values, std::int64_t how_many) {
  for (std::int64_t i = 0; i < how_many; ++i) integer(values[i]);
}

void type_recipe::type(const datatype& used) {
  HEADWAY_ASSERT(used.is_predefined() || used.recipe != nullptr);
  types.push_back({used.is_predefined() ? used.bits() : 0, used.shared_layout(), used.recipe});
}

bool type_recipe::counts_fit_int() const noexcept {
  using limits = std::numeric_limits<int>;
  return std::ranges::all_of(numbers, [](const number& n) {
    return n.value >= limits::min() && n.value <= limits::max();
  });
}

datatype* datatype_for(const type_recipe::ingredient& used) {
  if (used.constant != 0) {
    auto* const known = find<datatype>(reinterpret_cast<MPI_Datatype>(used.constant));
    HEADWAY_ASSERT(known != nullptr);  // predefined ones are never freed
    return known;
  }
  auto* made = pool<datatype>::all().make(used.layout);
  made->recipe = used.recipe;
  made->committed = true;
  return made;
}

}  // namespace headway::mpi
