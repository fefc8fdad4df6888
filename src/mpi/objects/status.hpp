#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

#include "messages/request.hpp"

namespace headway::mpi {

/// MPI_Status::MPI_internal, which has the alignment of int, holds the bytes received in its first
/// two elements, and in the third whether the operation was cancelled.
inline void set_status_bytes(MPI_Status& status, std::int64_t bytes) noexcept {
  std::memcpy(status.MPI_internal, &bytes, sizeof bytes);
}
[[nodiscard]] inline std::int64_t status_bytes(const MPI_Status& status) noexcept {
  std::int64_t bytes;
  std::memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}
inline void set_status_cancelled(MPI_Status& status, bool cancelled) noexcept {
  status.MPI_internal[2] = cancelled;
}
[[nodiscard]] inline bool status_cancelled(const MPI_Status& status) noexcept {
  return status.MPI_internal[2] != 0;
}

/// Sets all fields except MPI_ERROR, which only calls that complete several operations set.
inline void set_status(MPI_Status& status, int source, int tag, std::int64_t bytes,
                       bool cancelled = false) noexcept {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  set_status_bytes(status, bytes);
  set_status_cancelled(status, cancelled);
}
inline void set_status(MPI_Status& status, const messages::arrival& from) noexcept {
  set_status(status, from.source, from.tag, static_cast<std::int64_t>(from.bytes),
             from.how == messages::outcome::cancelled);
}
/// The status of a send, and of other operations without source, tag and count.
inline void set_status_done(MPI_Status& status) noexcept {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}
/// The standard's "empty status": that of a null or inactive request.
inline void set_status_empty(MPI_Status& status) noexcept {
  set_status_done(status);
  status.MPI_ERROR = MPI_SUCCESS;
}
/// The status of a receive from MPI_PROC_NULL.
inline void set_status_no_process(MPI_Status& status) noexcept {
  set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
}

}  // namespace headway::mpi
