#pragma once

#include <mpi.h>

#include "mpi/datatypes/datatype.hpp"
#include "mpi/files/file.hpp"
#include "mpi/point_to_point/request.hpp"

/// MPI-5.0 section 14.4: data access, and the file pointers. Handles, counts and buffers are good;
/// offsets, modes and what belongs together are checked here. Collective forms read and write what
/// each process wants, without exchanging data.
namespace headway::mpi::calls {

int file_seek(file& fh, MPI_Offset offset, int whence);
int file_seek_shared(file& fh, MPI_Offset offset, int whence);
int file_get_position(file& fh, MPI_Offset& offset);
int file_get_position_shared(file& fh, MPI_Offset& offset);
int file_get_byte_offset(file& fh, MPI_Offset offset, MPI_Offset& disp);

int file_read_at(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type,
                 MPI_Status* status);
int file_iread_at(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type,
                  request*& r);
int file_read_at_all(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type,
                     MPI_Status* status);
int file_iread_at_all(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type,
                      request*& r);
int file_read_at_all_begin(file& fh, MPI_Offset offset, void* buf, MPI_Count count, datatype& type);
int file_read_at_all_end(file& fh, void* buf, MPI_Status* status);
int file_read(file& fh, void* buf, MPI_Count count, datatype& type, MPI_Status* status);
int file_iread(file& fh, void* buf, MPI_Count count, datatype& type, request*& r);
int file_read_all(file& fh, void* buf, MPI_Count count, datatype& type, MPI_Status* status);
int file_iread_all(file& fh, void* buf, MPI_Count count, datatype& type, request*& r);
int file_read_all_begin(file& fh, void* buf, MPI_Count count, datatype& type);
int file_read_all_end(file& fh, void* buf, MPI_Status* status);
int file_read_shared(file& fh, void* buf, MPI_Count count, datatype& type, MPI_Status* status);
int file_iread_shared(file& fh, void* buf, MPI_Count count, datatype& type, request*& r);
int file_read_ordered(file& fh, void* buf, MPI_Count count, datatype& type, MPI_Status* status);
int file_read_ordered_begin(file& fh, void* buf, MPI_Count count, datatype& type);
int file_read_ordered_end(file& fh, void* buf, MPI_Status* status);

int file_write_at(file& fh, MPI_Offset offset, const void* buf, MPI_Count count, datatype& type,
                  MPI_Status* status);
int file_iwrite_at(file& fh, MPI_Offset offset, const void* buf, MPI_Count count, datatype& type,
                   request*& r);
int file_write_at_all(file& fh, MPI_Offset offset, const void* buf, MPI_Count count, datatype& type,
                      MPI_Status* status);
int file_iwrite_at_all(file& fh, MPI_Offset offset, const void* buf, MPI_Count count,
                       datatype& type, request*& r);
int file_write_at_all_begin(file& fh, MPI_Offset offset, const void* buf, MPI_Count count,
                            datatype& type);
int file_write_at_all_end(file& fh, const void* buf, MPI_Status* status);
int file_write(file& fh, const void* buf, MPI_Count count, datatype& type, MPI_Status* status);
int file_iwrite(file& fh, const void* buf, MPI_Count count, datatype& type, request*& r);
int file_write_all(file& fh, const void* buf, MPI_Count count, datatype& type, MPI_Status* status);
int file_iwrite_all(file& fh, const void* buf, MPI_Count count, datatype& type, request*& r);
int file_write_all_begin(file& fh, const void* buf, MPI_Count count, datatype& type);
int file_write_all_end(file& fh, const void* buf, MPI_Status* status);
int file_write_shared(file& fh, const void* buf, MPI_Count count, datatype& type,
                      MPI_Status* status);
int file_iwrite_shared(file& fh, const void* buf, MPI_Count count, datatype& type, request*& r);
int file_write_ordered(file& fh, const void* buf, MPI_Count count, datatype& type,
                       MPI_Status* status);
int file_write_ordered_begin(file& fh, const void* buf, MPI_Count count, datatype& type);
int file_write_ordered_end(file& fh, const void* buf, MPI_Status* status);

}  // namespace headway::mpi::calls
