#include "mpi/operation.hpp"

namespace headway::mpi {

void define_operations() {
  static const MPI_Op values[] = {MPI_SUM,    MPI_MIN,    MPI_MAX,     MPI_PROD, MPI_BAND,
                                  MPI_BOR,    MPI_BXOR,   MPI_LAND,    MPI_LOR,  MPI_LXOR,
                                  MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  static auto* const made = [] {
    auto* all = new operation[sizeof values / sizeof values[0]];
    for (std::size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
      define(all[i], object_kind::op, reinterpret_cast<std::uintptr_t>(values[i]));
    }
    all[12].commutative = false;  // MPI_REPLACE keeps the later operand
    return all;
  }();
  (void)made;
}

}  // namespace headway::mpi
