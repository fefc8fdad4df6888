#include "mpi/files/shared_pointer.hpp"

#include "mpi/collectives/collective_calls.hpp"
#include "mpi/one_sided/creation.hpp"
#include "mpi/one_sided/operation_calls.hpp"
#include "mpi/one_sided/synchronisation_calls.hpp"

namespace headway::mpi {

int shared_pointer::make(communicator& comm) {
  comm_ = &comm;
  if (comm.size() == 1) return MPI_SUCCESS;
  const bool is_first = comm.rank() == 0;
  const auto bytes = static_cast<std::int64_t>(is_first ? sizeof(std::int64_t) : 0);
  const window_call call{.flavor = MPI_WIN_FLAVOR_ALLOCATE, .size = bytes};
  if (const int code = make_window(comm, call, window_)) return code;
  return calls::win_lock_all(MPI_MODE_NOCHECK, *window_);
}

int shared_pointer::end() {
  if (window_ == nullptr) return MPI_SUCCESS;
  if (const int code = calls::win_unlock_all(*window_)) return code;
  window* const freed = window_;
  window_ = nullptr;
  return free_window(*freed);
}

int shared_pointer::set(std::int64_t position) {
  if (window_ == nullptr) {
    alone_.store(position, std::memory_order_relaxed);
    return MPI_SUCCESS;
  }
  // No process moves it meanwhile: all have come here, and none goes on before it is set.
  if (const int code = run_collective(*comm_, calls::barrier{})) return code;
  if (comm_->rank() == 0) {
    std::int64_t before = 0;
    auto& replace = *find<operation>(MPI_REPLACE);
    auto& type = *find<datatype>(MPI_INT64_T);
    if (const int code = calls::fetch_and_op(&position, &before, type, 0, 0, replace, *window_))
      return code;
    if (const int code = calls::win_flush(0, *window_)) return code;
  }
  return run_collective(*comm_, calls::barrier{});
}

int shared_pointer::advance(std::int64_t bytes, std::int64_t& begin) {
  if (window_ == nullptr) {
    begin = alone_.fetch_add(bytes, std::memory_order_relaxed);
    return MPI_SUCCESS;
  }
  auto& sum = *find<operation>(MPI_SUM);
  auto& type = *find<datatype>(MPI_INT64_T);
  if (const int code = calls::fetch_and_op(&bytes, &begin, type, 0, 0, sum, *window_)) return code;
  return calls::win_flush(0, *window_);
}

}  // namespace headway::mpi
