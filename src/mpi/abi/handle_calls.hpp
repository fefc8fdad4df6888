#pragma once

#include <mpi.h>

/// MPI-5.0 section 20.3: conversion of handles to integers and back. The handles are not checked
/// before: they may be null, freed or invalid.
namespace headway::mpi::calls {

int comm_toint(MPI_Comm handle);
int errhandler_toint(MPI_Errhandler handle);
int file_toint(MPI_File handle);
int group_toint(MPI_Group handle);
int info_toint(MPI_Info handle);
int message_toint(MPI_Message handle);
int op_toint(MPI_Op handle);
int request_toint(MPI_Request handle);
int session_toint(MPI_Session handle);
int type_toint(MPI_Datatype handle);
int win_toint(MPI_Win handle);

MPI_Comm comm_fromint(int number);
MPI_Errhandler errhandler_fromint(int number);
MPI_File file_fromint(int number);
MPI_Group group_fromint(int number);
MPI_Info info_fromint(int number);
MPI_Message message_fromint(int number);
MPI_Op op_fromint(int number);
MPI_Request request_fromint(int number);
MPI_Session session_fromint(int number);
MPI_Datatype type_fromint(int number);
MPI_Win win_fromint(int number);

}  // namespace headway::mpi::calls
