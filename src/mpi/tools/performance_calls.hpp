#pragma once

#include <mpi.h>

/// MPI-5.0 section 15.3.7: performance variables.
namespace headway::mpi::calls {

int t_pvar_get_num(int* num_pvar);
int t_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                    int* bind, int* readonly, int* continuous, int* atomic);
int t_pvar_get_index(const char* name, int var_class, int* pvar_index);
int t_pvar_session_create(MPI_T_pvar_session* session);
int t_pvar_session_free(MPI_T_pvar_session* session);
int t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void* obj_handle,
                        MPI_T_pvar_handle* handle, int* count);
int t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle);
int t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf);
int t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf);
int t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf);

}  // namespace headway::mpi::calls
