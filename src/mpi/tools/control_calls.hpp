#pragma once

#include <mpi.h>

/// MPI-5.0 section 15.3.6: control variables.
namespace headway::mpi::calls {

int t_cvar_get_num(int* num_cvar);
int t_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity,
                    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                    int* bind, int* scope);
int t_cvar_get_index(const char* name, int* cvar_index);
int t_cvar_handle_alloc(int cvar_index, void* obj_handle, MPI_T_cvar_handle* handle, int* count);
int t_cvar_handle_free(MPI_T_cvar_handle* handle);
int t_cvar_read(MPI_T_cvar_handle handle, void* buf);
int t_cvar_write(MPI_T_cvar_handle handle, const void* buf);

}  // namespace headway::mpi::calls
