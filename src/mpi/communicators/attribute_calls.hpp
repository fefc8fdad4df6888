#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"

/// MPI-5.0 section 7.7: attributes of communicators and datatypes, and attribute keys of these and
/// of windows.
namespace headway::mpi::calls {

int comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove,
                       int& key, void* extra_state);
int comm_free_keyval(int& key);
int comm_set_attr(communicator& comm, int key, void* value);
int comm_get_attr(communicator& comm, int key, void* value, int& flag);
int comm_delete_attr(communicator& comm, int key);

int type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove,
                       int& key, void* extra_state);
int type_free_keyval(int& key);
int type_set_attr(datatype& type, int key, void* value);
int type_get_attr(datatype& type, int key, void* value, int& flag);
int type_delete_attr(datatype& type, int key);

int win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove,
                      int& key, void* extra_state);
int win_free_keyval(int& key);

}  // namespace headway::mpi::calls
