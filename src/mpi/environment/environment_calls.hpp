#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/objects/info.hpp"

/// MPI-5.0 chapters 9, 11 and 20: start and end, version and processor name, memory, the clock.
namespace headway::mpi::calls {

int init(int* argc, char*** argv);
int init_thread(int* argc, char*** argv, int required, int& provided);
int initialized(int& flag);
int finalize();
int finalized(int& flag);
int query_thread(int& provided);
int is_thread_main(int& flag);
int abort(communicator& comm, int errorcode);

double wtime();
double wtick();

int get_version(int& version, int& subversion);
int get_library_version(char* version, int& resultlen);
int get_processor_name(char* name, int& resultlen);
int get_hw_resource_info(info*& hw_info);
int alloc_mem(MPI_Aint size, info* hints, void* baseptr);
int free_mem(void* base);
int pcontrol(int level);

int abi_get_version(int& abi_major, int& abi_minor);
int abi_get_info(info*& made);
int abi_get_fortran_info(info*& made);
int abi_set_fortran_info(info& given);
int abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
                             int& is_set);
int abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false);

}  // namespace headway::mpi::calls
