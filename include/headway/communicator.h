/* What libmpi_abi of Headway has for communicators beside MPI. C11 and C++; compile with mpicc. A
 * program that has to run on other libraries, too, uses the info key `headway_priority` instead,
 * which those ignore. docs/strategy.md says what priority does. */
#ifndef HEADWAY_COMMUNICATOR_H
#define HEADWAY_COMMUNICATOR_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum headway_priority {
  HEADWAY_PRIORITY_NORMAL = 0,
  HEADWAY_PRIORITY_URGENT = 1 /* passes messages of others that wait for the same rail */
};

/* The priority of what this process sends on `comm` from now on, in messages and in collective
 * operations, and of the large messages that it receives. Messages of one communicator never pass
 * each other.
 * Threads: any, at any time. Local: other processes need not call it.
 * Errors:  as those of an MPI call: MPI_ERR_COMM, and MPI_ERR_ARG for an unknown priority, by the
 *          error handler. */
int headway_comm_set_priority(MPI_Comm comm, int priority);
int headway_comm_get_priority(MPI_Comm comm, int* priority);

#ifdef __cplusplus
}
#endif

#endif
