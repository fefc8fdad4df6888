#pragma once

#include <mpi.h>

/// MPI-5.0 section 15.3.9: categories of variables and events.
namespace headway::mpi::calls {

int t_category_get_num(int* num_cat);
int t_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                        int* num_cvars, int* num_pvars, int* num_categories);
int t_category_get_num_events(int cat_index, int* num_events);
int t_category_get_index(const char* name, int* cat_index);
int t_category_get_cvars(int cat_index, int len, int indices[]);
int t_category_get_pvars(int cat_index, int len, int indices[]);
int t_category_get_events(int cat_index, int len, int indices[]);
int t_category_get_categories(int cat_index, int len, int indices[]);
int t_category_changed(int* update_number);

}  // namespace headway::mpi::calls
