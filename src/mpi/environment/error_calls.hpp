#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/files/file.hpp"
#include "mpi/objects/errhandler.hpp"
#include "mpi/one_sided/window.hpp"
#include "mpi/sessions/session.hpp"

/// MPI-5.0 sections 9.3 to 9.5: error handlers, classes, codes and strings.
namespace headway::mpi::calls {

int comm_create_errhandler(MPI_Comm_errhandler_function* function, errhandler*& made);
int win_create_errhandler(MPI_Win_errhandler_function* function, errhandler*& made);
int file_create_errhandler(MPI_File_errhandler_function* function, errhandler*& made);
int session_create_errhandler(MPI_Session_errhandler_function* function, errhandler*& made);
int errhandler_free(errhandler*& freed);

int comm_set_errhandler(communicator& comm, errhandler& handler);
int win_set_errhandler(window& win, errhandler& handler);
int file_set_errhandler(file& which, errhandler& handler);
int session_set_errhandler(session& which, errhandler& handler);
int comm_get_errhandler(communicator& comm, errhandler*& handler);
int win_get_errhandler(window& win, errhandler*& handler);
int file_get_errhandler(file& which, errhandler*& handler);
int session_get_errhandler(session& which, errhandler*& handler);
int comm_call_errhandler(communicator& comm, int errorcode);
int win_call_errhandler(window& win, int errorcode);
int file_call_errhandler(file& which, int errorcode);
int session_call_errhandler(session& which, int errorcode);

int error_class(int errorcode, int& errorclass);
int error_string(int errorcode, char* string, int& resultlen);
int add_error_class(int& errorclass);
int add_error_code(int errorclass, int& errorcode);
int add_error_string(int errorcode, const char* string);
int remove_error_class(int errorclass);
int remove_error_code(int errorcode);
int remove_error_string(int errorcode);

}  // namespace headway::mpi::calls
