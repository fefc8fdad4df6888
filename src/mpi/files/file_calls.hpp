#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/communicators/group.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/files/file.hpp"
#include "mpi/objects/info.hpp"

/// MPI-5.0 sections 14.2, 14.3, 14.5 and 14.6: files and their views, representations, consistency.
/// Handles are good, also no null handle; the rest is checked here. What all processes call
/// together they refuse together.
namespace headway::mpi::calls {

int file_open(communicator& comm, const char* filename, int amode, info* hints, file*& fh);
int file_close(file*& fh);
int file_delete(const char* filename, info* hints);
int file_set_size(file& fh, MPI_Offset size);
int file_preallocate(file& fh, MPI_Offset size);
int file_get_size(file& fh, MPI_Offset& size);
int file_get_group(file& fh, group*& made);
int file_get_amode(file& fh, int& amode);
int file_set_info(file& fh, info* hints);
int file_get_info(file& fh, info*& hints);

int file_set_view(file& fh, MPI_Offset disp, datatype& etype, datatype& filetype,
                  const char* datarep, info* hints);
int file_get_view(file& fh, MPI_Offset& disp, datatype*& etype, datatype*& filetype, char* datarep);
int file_get_type_extent(file& fh, datatype& type, MPI_Aint& extent);
int register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
                     MPI_Datarep_conversion_function* write_conversion_fn,
                     MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state);
int register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion_fn,
                       MPI_Datarep_conversion_function_c* write_conversion_fn,
                       MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state);

int file_set_atomicity(file& fh, int flag);
int file_get_atomicity(file& fh, int& flag);
int file_sync(file& fh);

}  // namespace headway::mpi::calls
