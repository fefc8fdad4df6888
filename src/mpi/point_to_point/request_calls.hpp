#pragma once

#include <mpi.h>

#include "mpi/point_to_point/request.hpp"

/// MPI-5.0 sections 3.7, 3.8.4, 3.9 and 13.2: completing, starting and cancelling operations. The
/// entry points have checked the handles, also those in arrays, which may be null.
namespace headway::mpi::calls {

int wait(request*& r, MPI_Status* status);
int waitany(int count, MPI_Request* requests, int& index, MPI_Status* status);
int waitall(int count, MPI_Request* requests, MPI_Status* statuses);
int waitsome(int count, MPI_Request* requests, int& outcount, int* indices, MPI_Status* statuses);
int test(request*& r, int& flag, MPI_Status* status);
int testany(int count, MPI_Request* requests, int& index, int& flag, MPI_Status* status);
int testall(int count, MPI_Request* requests, int& flag, MPI_Status* statuses);
int testsome(int count, MPI_Request* requests, int& outcount, int* indices, MPI_Status* statuses);

int request_get_status(request* r, int& flag, MPI_Status* status);
int request_get_status_all(int count, const MPI_Request* requests, int& flag, MPI_Status* statuses);
int request_get_status_any(int count, const MPI_Request* requests, int& index, int& flag,
                           MPI_Status* status);
int request_get_status_some(int count, const MPI_Request* requests, int& outcount, int* indices,
                            MPI_Status* statuses);

int request_free(request*& r);
int start(request*& r);
int startall(int count, MPI_Request* requests);
int cancel(request*& r);

int grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                   MPI_Grequest_cancel_function* cancel, void* extra_state, request*& r);
int grequest_complete(request& r);

}  // namespace headway::mpi::calls
