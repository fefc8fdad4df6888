// Calls that later versions of the standard have removed and Fortran programs still make.
#include <vector>

#include "mpi/fortran/conversions.hpp"
#include "mpi/fortran/special.hpp"

// Addresses keep their low 32 bits, so that differences of addresses are right up to 2 GB.
namespace headway::mpi::fortran::special {
namespace {

struct type_bounds {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
};

int get_bounds(const int* type, type_bounds& found) {
  return PMPI_Type_get_extent(handle<MPI_Datatype>(*type), &found.lower, &found.extent);
}

std::vector<MPI_Aint> addresses(const int* places, int count) {
  return {places, places + (count > 0 ? count : 0)};
}

}  // namespace

int address(void* location, int* found) {
  MPI_Aint whole = 0;
  const int code = PMPI_Get_address(location, &whole);
  *found = static_cast<int>(whole);
  return code;
}

int errhandler_create(procedure* function, int* errhandler) {
  return comm_create_errhandler(function, errhandler);
}

int errhandler_get(const int* comm, int* errhandler) {
  written<MPI_Errhandler> errhandler_(errhandler);
  return PMPI_Comm_get_errhandler(handle<MPI_Comm>(*comm), errhandler_.address());
}

int errhandler_set(const int* comm, const int* errhandler) {
  return PMPI_Comm_set_errhandler(handle<MPI_Comm>(*comm), handle<MPI_Errhandler>(*errhandler));
}

int type_extent(const int* type, int* extent) {
  type_bounds found;
  const int code = get_bounds(type, found);
  *extent = static_cast<int>(found.extent);
  return code;
}

int type_lb(const int* type, int* lower) {
  type_bounds found;
  const int code = get_bounds(type, found);
  *lower = static_cast<int>(found.lower);
  return code;
}

int type_ub(const int* type, int* upper) {
  type_bounds found;
  const int code = get_bounds(type, found);
  *upper = static_cast<int>(found.lower + found.extent);
  return code;
}

int type_hindexed(const int* count, const int* lengths, const int* places, const int* type,
                  int* made) {
  written<MPI_Datatype> made_(made);
  return PMPI_Type_create_hindexed(*count, lengths, addresses(places, *count).data(),
                                   handle<MPI_Datatype>(*type), made_.address());
}

int type_hvector(const int* count, const int* length, const int* stride, const int* type,
                 int* made) {
  written<MPI_Datatype> made_(made);
  return PMPI_Type_create_hvector(*count, *length, *stride, handle<MPI_Datatype>(*type),
                                  made_.address());
}

int type_struct(const int* count, const int* lengths, const int* places, const int* types,
                int* made) {
  written<MPI_Datatype> made_(made);
  handle_array<MPI_Datatype> types_(types, *count);
  return PMPI_Type_create_struct(*count, lengths, addresses(places, *count).data(), types_.data(),
                                 made_.address());
}

}  // namespace headway::mpi::fortran::special
