#pragma once

#include <mpi.h>

/// Constants of Fortran that are addresses, such as MPI_IN_PLACE: variables in named common blocks,
/// which a call recognises by their address. mpif.h and both modules declare the same blocks. Their
/// names and layouts are those of MPICH and Intel MPI, so that a program runs on either library.
extern "C" {

struct headway_fortran_buffers {
  int bottom;
  int in_place;
  int status_ignore[MPI_F_STATUS_SIZE];
};
struct headway_fortran_arrays {
  int statuses_ignore[MPI_F_STATUS_SIZE];
  int errcodes_ignore;
};
struct headway_fortran_texts {
  char argvs_null;
  char argv_null;
};

extern headway_fortran_buffers mpipriv1_;
extern headway_fortran_arrays mpipriv2_;
extern headway_fortran_texts mpiprivc_;
extern int mpifcmb5_;  ///< MPI_UNWEIGHTED
extern int mpifcmb9_;  ///< MPI_WEIGHTS_EMPTY
extern int mpifcmba_;  ///< MPI_BUFFER_AUTOMATIC
}

namespace headway::mpi::fortran {

inline bool is_in_place(const void* buffer) noexcept { return buffer == &mpipriv1_.in_place; }

/// A buffer argument in C: MPI_BOTTOM and MPI_IN_PLACE have other addresses there.
inline void* choice(void* buffer) noexcept {
  if (buffer == &mpipriv1_.bottom) return MPI_BOTTOM;
  if (is_in_place(buffer)) return MPI_IN_PLACE;
  if (buffer == &mpifcmba_) return MPI_BUFFER_AUTOMATIC;
  return buffer;
}

/// The two languages have the same status: eight integers, of which the first three are public.
inline MPI_Status* status_at(int* at) noexcept { return reinterpret_cast<MPI_Status*>(at); }
inline const MPI_Status* status_at(const int* at) noexcept {
  return reinterpret_cast<const MPI_Status*>(at);
}
inline MPI_Status* status_or_ignore(int* at) noexcept {
  return at == mpipriv1_.status_ignore ? MPI_STATUS_IGNORE : status_at(at);
}
inline MPI_Status* statuses_or_ignore(int* at) noexcept {
  return at == mpipriv2_.statuses_ignore ? MPI_STATUSES_IGNORE : status_at(at);
}

inline int* weights_at(int* at) noexcept {
  if (at == &mpifcmb5_) return MPI_UNWEIGHTED;
  return at == &mpifcmb9_ ? MPI_WEIGHTS_EMPTY : at;
}
inline const int* weights_at(const int* at) noexcept { return weights_at(const_cast<int*>(at)); }

/// An array of ranges, each of three numbers.
inline auto triplets(int* at) noexcept { return reinterpret_cast<int(*)[3]>(at); }

}  // namespace headway::mpi::fortran
