#pragma once

#include <mpi.h>

/// MPI-5.0 section 15.3.5: enumerations.
namespace headway::mpi::calls {

int t_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len);
int t_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len);

}  // namespace headway::mpi::calls
