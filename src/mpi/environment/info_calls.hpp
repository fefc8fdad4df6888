#pragma once

#include <mpi.h>

#include "mpi/objects/info.hpp"

/// MPI-5.0 chapter 10: info objects.
namespace headway::mpi::calls {

int info_create(info*& made);
int info_create_env(int argc, char* argv[], info*& made);
int info_dup(info& from, info*& made);
int info_free(info*& freed);
int info_set(info& where, const char* key, const char* value);
int info_delete(info& where, const char* key);
int info_get(info& where, const char* key, int valuelen, char* value, int& flag);
int info_get_string(info& where, const char* key, int& buflen, char* value, int& flag);
int info_get_valuelen(info& where, const char* key, int& valuelen, int& flag);
int info_get_nkeys(info& where, int& nkeys);
int info_get_nthkey(info& where, int n, char* key);

}  // namespace headway::mpi::calls
