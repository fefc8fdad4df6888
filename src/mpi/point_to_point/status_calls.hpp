#pragma once

#include <mpi.h>

#include "mpi/datatypes/datatype.hpp"

/// MPI-5.0 sections 3.2.5 and 13.3: reading and setting the fields of a status.
namespace headway::mpi::calls {

int get_count(const MPI_Status& status, datatype& type, MPI_Count& count);
int get_elements(const MPI_Status& status, datatype& type, MPI_Count& count);
int test_cancelled(const MPI_Status& status, int& flag);
int status_get_source(const MPI_Status& status, int& source);
int status_get_tag(const MPI_Status& status, int& tag);
int status_get_error(const MPI_Status& status, int& error);
int status_set_source(MPI_Status& status, int source);
int status_set_tag(MPI_Status& status, int tag);
int status_set_error(MPI_Status& status, int error);
int status_set_cancelled(MPI_Status& status, int flag);
int status_set_elements(MPI_Status& status, datatype& type, MPI_Count count);

}  // namespace headway::mpi::calls
