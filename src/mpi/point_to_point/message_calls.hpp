#pragma once

#include <mpi.h>

#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/point_to_point/message_request.hpp"
#include "mpi/point_to_point/request.hpp"

/// MPI-5.0 chapter 3: sends, receives and probes. The entry points have checked ranks, tags and
/// handles; these functions handle MPI_PROC_NULL. api/generate.py makes the entry points of all
/// modes of sends, and of MPI_Irecv and MPI_Recv_init, which call `run_message`, `start_message`
/// and `prepare_message` (message_request.hpp).
namespace headway::mpi::calls {

int recv(void* buf, MPI_Count count, datatype& type, int source, int tag, communicator& comm,
         MPI_Status* status);

int sendrecv(const void* sendbuf, MPI_Count sendcount, datatype& sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, datatype& recvtype, int source, int recvtag,
             communicator& comm, MPI_Status* status);
int sendrecv_replace(void* buf, MPI_Count count, datatype& type, int dest, int sendtag, int source,
                     int recvtag, communicator& comm, MPI_Status* status);
int isendrecv(const void* sendbuf, MPI_Count sendcount, datatype& sendtype, int dest, int sendtag,
              void* recvbuf, MPI_Count recvcount, datatype& recvtype, int source, int recvtag,
              communicator& comm, request*& r);
int isendrecv_replace(void* buf, MPI_Count count, datatype& type, int dest, int sendtag, int source,
                      int recvtag, communicator& comm, request*& r);

int probe(int source, int tag, communicator& comm, MPI_Status* status);
int iprobe(int source, int tag, communicator& comm, int& flag, MPI_Status* status);
int mprobe(int source, int tag, communicator& comm, message*& found, MPI_Status* status);
int improbe(int source, int tag, communicator& comm, int& flag, message*& found,
            MPI_Status* status);
int mrecv(void* buf, MPI_Count count, datatype& type, message*& taken, MPI_Status* status);
int imrecv(void* buf, MPI_Count count, datatype& type, message*& taken, request*& r);

}  // namespace headway::mpi::calls
