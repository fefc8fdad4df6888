#include "mpi/fortran/sentinels.hpp"

// A program that includes mpif.h has blocks of the same names; the dynamic linker then takes the
// program's for both.
#pragma GCC visibility push(default)
extern "C" {

headway_fortran_buffers mpipriv1_;
headway_fortran_arrays mpipriv2_;
headway_fortran_texts mpiprivc_;
int mpifcmb5_;
int mpifcmb9_;
int mpifcmba_;
}
#pragma GCC visibility pop
