#include "mpi/collectives/operation.hpp"

namespace headway::mpi {
namespace {

struct predefined_operation {
  MPI_Op value;
  const char* name;
  collectives::operation predefined;
};

using enum collectives::operation;

const predefined_operation all_operations[] = {{MPI_SUM, "MPI_SUM", sum},
                                               {MPI_MIN, "MPI_MIN", min},
                                               {MPI_MAX, "MPI_MAX", max},
                                               {MPI_PROD, "MPI_PROD", prod},
                                               {MPI_BAND, "MPI_BAND", band},
                                               {MPI_BOR, "MPI_BOR", bor},
                                               {MPI_BXOR, "MPI_BXOR", bxor},
                                               {MPI_LAND, "MPI_LAND", land},
                                               {MPI_LOR, "MPI_LOR", lor},
                                               {MPI_LXOR, "MPI_LXOR", lxor},
                                               {MPI_MINLOC, "MPI_MINLOC", minloc},
                                               {MPI_MAXLOC, "MPI_MAXLOC", maxloc},
                                               {MPI_REPLACE, "MPI_REPLACE", replace},
                                               {MPI_NO_OP, "MPI_NO_OP", no_op}};

}  // namespace

operation& operation::none() noexcept {
  static auto* const made = new operation;
  return *made;
}

void define_operations() {
  static const bool once = [] {
    for (const auto& each : all_operations) {
      auto* made = new operation;
      made->name = each.name;
      made->predefined = each.predefined;
      made->commutative = each.predefined != replace && each.predefined != no_op;
      define(*made, object_kind::op, reinterpret_cast<std::uintptr_t>(each.value));
    }
    return true;
  }();
  (void)once;
}

}  // namespace headway::mpi
