#include "mpi/one_sided/attached_operations.hpp"

#include "mpi/one_sided/window.hpp"

namespace headway::mpi {

void attached_operations::add(int rank, std::unique_ptr<request_attachment> what) {
  const base::lock_guard held(lock_);
  attached_.emplace_back(rank, std::move(what));
  count_.store(attached_.size(), std::memory_order_relaxed);  // see `synchronise`
}

void attached_operations::end(int rank) {
  std::erase_if(attached_, [&](auto& each) {
    if (rank != all_ranks && rank != each.first) return false;
    each.second->after_end();
    return true;
  });
  count_.store(attached_.size(), std::memory_order_relaxed);  // see `synchronise`
}

}  // namespace headway::mpi

void headway_attach_to_window(MPI_Win win, int rank, headway::mpi::request_attachment* what) {
  using namespace headway::mpi;
  std::unique_ptr<request_attachment> owned(what);
  if (rank == MPI_PROC_NULL) return;
  find<window>(win)->attached().add(rank, std::move(owned));
}
