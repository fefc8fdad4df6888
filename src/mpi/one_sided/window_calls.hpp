#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/communicators/group.hpp"
#include "mpi/objects/info.hpp"
#include "mpi/one_sided/window.hpp"

/// MPI-5.0 section 12.2, and what a window has in common with other objects: attributes, names
/// and hints.
namespace headway::mpi::calls {

int win_create(void* base, MPI_Aint size, MPI_Count disp_unit, info* hints, communicator& comm,
               window*& win);
int win_allocate(MPI_Aint size, MPI_Count disp_unit, info* hints, communicator& comm, void* baseptr,
                 window*& win);
int win_allocate_shared(MPI_Aint size, MPI_Count disp_unit, info* hints, communicator& comm,
                        void* baseptr, window*& win);
int win_create_dynamic(info* hints, communicator& comm, window*& win);
int win_free(window*& win);
int win_attach(window& win, void* base, MPI_Aint size);
int win_detach(window& win, const void* base);
int win_shared_query(window& win, int rank, MPI_Aint& size, MPI_Count& disp_unit, void* baseptr);
int win_get_group(window& win, group*& made);

int win_set_attr(window& win, int key, void* value);
int win_get_attr(window& win, int key, void* value, int& flag);
int win_delete_attr(window& win, int key);
int win_set_name(window& win, const char* name);
int win_get_name(window* win, char* name, int& resultlen);
int win_set_info(window& win, info* hints);
int win_get_info(window& win, info*& hints);

}  // namespace headway::mpi::calls
