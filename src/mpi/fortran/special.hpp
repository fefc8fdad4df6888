#pragma once

#include <mpi.h>

#include <cstddef>

/// Functions whose Fortran binding differs from the C function in more than the types of arguments.
/// Their arguments are as Fortran passes them: everything by address, the lengths of strings last.
/// api/generate.py reads this header: a function that is declared here is called by its entry.
namespace headway::mpi::fortran {

/// A procedure argument; its arguments are those of the callback in the standard.
using procedure = void();

namespace special {

// Start; what a program's arguments are in C.
int init();
int init_thread(const int* required, int* provided);
int info_create_env(int* info);
int pcontrol(const int* level);

// Indices begin at 1.
int waitany(const int* count, int* requests, int* index, int* status);
int testany(const int* count, int* requests, int* index, int* flag, int* status);
int request_get_status_any(const int* count, const int* requests, int* index, int* flag,
                           int* status);
int waitsome(const int* count, int* requests, int* done, int* indices, int* statuses);
int testsome(const int* count, int* requests, int* done, int* indices, int* statuses);
int request_get_status_some(const int* count, const int* requests, int* done, int* indices,
                            int* statuses);

// Strings whose length the program gives; it does not count an end.
int info_get(const int* info, const char* key, const int* valuelen, char* value, int* flag,
             std::size_t key_length, std::size_t value_length);
int info_get_string(const int* info, const char* key, int* buflen, char* value, int* flag,
                    std::size_t key_length, std::size_t value_length);
int session_get_nth_pset(const int* session, const int* info, const int* n, int* pset_len,
                         char* name, std::size_t name_length);

// Arrays of strings, which end with a blank one.
int comm_spawn(const char* command, const char* argv, const int* maxprocs, const int* info,
               const int* root, const int* comm, int* intercomm, int* codes,
               std::size_t command_length, std::size_t argv_length);
int comm_spawn_multiple(const int* count, const char* commands, const char* argv,
                        const int* maxprocs, const int* infos, const int* root, const int* comm,
                        int* intercomm, int* codes, std::size_t command_length,
                        std::size_t argv_length);

// Callbacks.
int op_create(procedure* function, const int* commute, int* op);
int op_create_c(procedure* function, const int* commute, int* op);
int comm_create_errhandler(procedure* function, int* errhandler);
int file_create_errhandler(procedure* function, int* errhandler);
int session_create_errhandler(procedure* function, int* errhandler);
int win_create_errhandler(procedure* function, int* errhandler);
int grequest_start(procedure* query, procedure* free, procedure* cancel,
                   const MPI_Aint* extra_state, int* request);
int register_datarep(const char* name, procedure* read, procedure* write, procedure* extent,
                     const MPI_Aint* extra_state, std::size_t name_length);
int register_datarep_c(const char* name, procedure* read, procedure* write, procedure* extent,
                       const MPI_Aint* extra_state, std::size_t name_length);

// Attributes are numbers, in C addresses.
int comm_create_keyval(procedure* copy, procedure* remove, int* keyval,
                       const MPI_Aint* extra_state);
int type_create_keyval(procedure* copy, procedure* remove, int* keyval,
                       const MPI_Aint* extra_state);
int win_create_keyval(procedure* copy, procedure* remove, int* keyval, const MPI_Aint* extra_state);
int keyval_create(procedure* copy, procedure* remove, int* keyval, const int* extra_state);
int comm_set_attr(const int* comm, const int* keyval, const MPI_Aint* value);
int type_set_attr(const int* type, const int* keyval, const MPI_Aint* value);
int win_set_attr(const int* win, const int* keyval, const MPI_Aint* value);
int attr_put(const int* comm, const int* keyval, const int* value);
int comm_get_attr(const int* comm, const int* keyval, MPI_Aint* value, int* flag);
int type_get_attr(const int* type, const int* keyval, MPI_Aint* value, int* flag);
int win_get_attr(const int* win, const int* keyval, MPI_Aint* value, int* flag);
int attr_get(const int* comm, const int* keyval, int* value, int* flag);

// Names that MPI-3.0 removed, with addresses of 32 bits.
int address(void* location, int* found);
int errhandler_create(procedure* function, int* errhandler);
int errhandler_get(const int* comm, int* errhandler);
int errhandler_set(const int* comm, const int* errhandler);
int type_extent(const int* type, int* extent);
int type_hindexed(const int* count, const int* lengths, const int* places, const int* type,
                  int* made);
int type_hvector(const int* count, const int* length, const int* stride, const int* type,
                 int* made);
int type_lb(const int* type, int* lower);
int type_struct(const int* count, const int* lengths, const int* places, const int* types,
                int* made);
int type_ub(const int* type, int* upper);

// Only in Fortran.
int f_sync_reg(void* buffer);
int status_f2f08(const int* from, int* to);
int status_f082f(const int* from, int* to);

}  // namespace special
}  // namespace headway::mpi::fortran
