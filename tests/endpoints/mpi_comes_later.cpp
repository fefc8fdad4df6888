// MPI is loaded after the first end-point was opened: both run on one engine. This program is not
// linked with MPI.
//
//   mpi_comes_later LIBMPI_ABI [another]
//
// `another`: end-points run on an engine that this MPI cannot share. MPI_Init fails with the
// reason.
#include <dlfcn.h>
#include <mpi.h>

#include "c_api/endpoints/calls.hpp"
#include "check.h"

namespace {

constexpr std::int32_t tag = 1, tag_meet = 2;

template <class Function>
Function* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) fprintf(stderr, "%s\n", dlerror());
  CHECK(found != nullptr);
  return reinterpret_cast<Function*>(found);
}

void both_share(void* mpi, headway_endpoint at) {
  CHECK(symbol<decltype(MPI_Init)>(mpi, "MPI_Init")(nullptr, nullptr) == MPI_SUCCESS);
  // One engine has one pool: the buffer is valid in MPI's library.
  using give = const headway::endpoint_api::table*();
  const auto* table = symbol<give>(mpi, "headway_endpoint_table")();
  void* buffer = buffer_of(1000);
  CHECK(table->capacity(buffer) == 1024);
  WELL(headway_buffer_release(buffer));

  int rank = -1, sum = 0;
  CHECK(symbol<decltype(MPI_Comm_rank)>(mpi, "MPI_Comm_rank")(MPI_COMM_WORLD, &rank) ==
        MPI_SUCCESS);
  CHECK(rank == headway_process());
  const int one = 1, n = headway_process_count();
  CHECK(symbol<decltype(MPI_Allreduce)>(mpi, "MPI_Allreduce")(&one, &sum, 1, MPI_INT, MPI_SUM,
                                                              MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(sum == n);
  WELL(headway_endpoint_send(at, look_up("main", (rank + 1) % n), tag, nullptr, 0, LONG_ENOUGH));
  receive_from(at, tag);
  CHECK(symbol<decltype(MPI_Finalize)>(mpi, "MPI_Finalize")() == MPI_SUCCESS);
  meet(at, "main", tag_meet);
}

void mpi_refuses(void* mpi) {
  MPI_Session made = MPI_SESSION_NULL;
  auto* init = symbol<decltype(MPI_Session_init)>(mpi, "MPI_Session_init");
  init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  puts("not so: it shares, or does not mind");
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 2);
  const headway_endpoint at = open_own("main");
  void* mpi = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!mpi) fprintf(stderr, "%s\n", dlerror());
  CHECK(mpi != nullptr);
  if (argc == 2) {
    both_share(mpi, at);
  } else {
    mpi_refuses(mpi);
  }
  WELL(headway_endpoint_close(at));
  return 0;
}
