#pragma once

/// MPI-5.0 section 15.3.4: initialisation and finalisation, any number of times.
namespace headway::mpi::calls {

int t_init_thread(int required, int* provided);
int t_finalize();

}  // namespace headway::mpi::calls
