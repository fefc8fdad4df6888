#pragma once

#include <mpi.h>

/// MPI-5.0 section 15.3.8: events, their sources, and callbacks.
namespace headway::mpi::calls {

int t_source_get_num(int* num_sources);
int t_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                      MPI_T_source_order* ordering, MPI_Count* ticks_per_second,
                      MPI_Count* max_ticks, MPI_Info* info);
int t_source_get_timestamp(int source_index, MPI_Count* timestamp);

int t_event_get_num(int* num_events);
int t_event_get_info(int event_index, char* name, int* name_len, int* verbosity,
                     MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                     int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc,
                     int* desc_len, int* bind);
int t_event_get_index(const char* name, int* event_index);

int t_event_handle_alloc(int event_index, void* obj_handle, MPI_Info info,
                         MPI_T_event_registration* event_registration);
int t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info);
int t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used);
int t_event_register_callback(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data,
                              MPI_T_event_cb_function event_cb_function);
int t_event_callback_set_info(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, MPI_Info info);
int t_event_callback_get_info(MPI_T_event_registration event_registration,
                              MPI_T_cb_safety cb_safety, MPI_Info* info_used);
int t_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                        MPI_T_event_free_cb_function free_cb_function);
int t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                MPI_T_event_dropped_cb_function dropped_cb_function);

int t_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer);
int t_event_copy(MPI_T_event_instance event_instance, void* buffer);
int t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp);
int t_event_get_source(MPI_T_event_instance event_instance, int* source_index);

}  // namespace headway::mpi::calls
