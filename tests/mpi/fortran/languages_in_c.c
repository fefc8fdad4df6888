#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Here as programs of MPI-4 write it, below as MPI-5 has it: both are offered. */
int c_size(MPI_Fint comm) {
  int size = -1;
  MPI_Comm_size(MPI_Comm_f2c(comm), &size);
  return size;
}

intptr_t c_attribute(int comm, int keyval) {
  MPI_Aint* value;
  int flag = 0;
  MPI_Comm_get_attr(MPI_Comm_fromint(comm), keyval, &value, &flag);
  return flag ? *value : 0;
}

int c_set_attribute(int comm) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  MPI_Comm_set_attr(MPI_Comm_fromint(comm), keyval, (void*)(intptr_t)4242);
  return keyval;
}

void c_wait(MPI_Fint* request) {
  MPI_Request in_c = MPI_Request_f2c(*request);
  MPI_Wait(&in_c, MPI_STATUS_IGNORE);
  *request = MPI_Request_c2f(in_c);
}

void c_status(MPI_Fint* status) {
  MPI_Status made = {0};
  made.MPI_SOURCE = 1;
  made.MPI_TAG = 2;
  made.MPI_ERROR = 3;
  MPI_Status_c2f(&made, status);
}

/* The last integer of a page, behind which reading ends the program. */
int* c_last_before_no_memory(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(pages + page, page, PROT_NONE);
  return (int*)(pages + page) - 1;
}
