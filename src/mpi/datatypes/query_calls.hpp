#pragma once

#include <mpi.h>

#include "mpi/datatypes/datatype.hpp"

/// MPI-5.0 sections 5.1.5 to 5.1.13: queries of a datatype's size, extent, name and construction;
/// addresses.
namespace headway::mpi::calls {

int type_size(datatype& type, MPI_Count& size);
int type_get_extent(datatype& type, MPI_Count& lb, MPI_Count& extent);
int type_get_true_extent(datatype& type, MPI_Count& true_lb, MPI_Count& true_extent);

int type_get_envelope(datatype& type, int& integers, int& addresses, int& datatypes, int& combiner);
int type_get_envelope_c(datatype& type, MPI_Count& integers, MPI_Count& addresses,
                        MPI_Count& large_counts, MPI_Count& datatypes, int& combiner);
int type_get_contents(datatype& type, int max_integers, int max_addresses, int max_datatypes,
                      int* integers, MPI_Aint* addresses, MPI_Datatype* datatypes);
int type_get_contents_c(datatype& type, MPI_Count max_integers, MPI_Count max_addresses,
                        MPI_Count max_large_counts, MPI_Count max_datatypes, int* integers,
                        MPI_Aint* addresses, MPI_Count* large_counts, MPI_Datatype* datatypes);

int type_set_name(datatype& type, const char* name);
int type_get_name(datatype* type, char* name, int& resultlen);

int get_address(const void* location, MPI_Aint& address);
// Removed from the standard.
int type_extent(datatype& type, MPI_Aint& extent);
int type_lb(datatype& type, MPI_Aint& displacement);
int type_ub(datatype& type, MPI_Aint& displacement);
MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement);
MPI_Aint aint_diff(MPI_Aint first, MPI_Aint second);

}  // namespace headway::mpi::calls
