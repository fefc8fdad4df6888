#include "mpi/partitioned/partitioned_calls.hpp"

#include <algorithm>

#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/partitioned/partitioned_request.hpp"
#include "mpi/point_to_point/waiting.hpp"

namespace headway::mpi::calls {
namespace {

int check_partition(const partitioned_request& r, int partition) {
  if (0 <= partition && partition < r.partitions()) return MPI_SUCCESS;
  return fail_on(
      r.comm, MPI_ERR_ARG,
      fmt::format("partition {} is none of the request, which has {}", partition, r.partitions()));
}

/// The sender of MPI_Pready; null: it is none.
partitioned_send* sender(request& r) { return dynamic_cast<partitioned_send*>(&r); }
int refuse_request() {
  return fail(MPI_ERR_REQUEST, "the request is of no partitioned operation of this direction");
}

int mark_ready(partitioned_send& which, int partition) {
  if (const int code = check_partition(which, partition)) return code;
  return which.ready(partition);
}

}  // namespace

int psend_init(const void* buf, int partitions, MPI_Count count, datatype& type, int dest, int tag,
               communicator& comm, info*, request*& r) {
  int first_tag = 0;
  if (dest != MPI_PROC_NULL) {
    const auto tags = comm.partition_tags.take(static_cast<std::uint32_t>(std::max(partitions, 1)));
    if (!tags) return fail(MPI_ERR_OTHER, "{} partitions are too many", partitions);
    first_tag = *tags;
  }
  r = pool<partitioned_send>::all().make(
      partitioned_call{const_cast<void*>(buf), partitions, count, type, dest, tag, comm},
      first_tag);
  return MPI_SUCCESS;
}

int precv_init(void* buf, int partitions, MPI_Count count, datatype& type, int source, int tag,
               communicator& comm, info*, request*& r) {
  r = pool<partitioned_receive>::all().make(
      partitioned_call{buf, partitions, count, type, source, tag, comm});
  return MPI_SUCCESS;
}

int pready(int partition, request& r) {
  auto* which = sender(r);
  return which ? mark_ready(*which, partition) : refuse_request();
}

int pready_range(int low, int high, request& r) {
  auto* which = sender(r);
  if (which == nullptr) return refuse_request();
  if (low > high) return fail(MPI_ERR_ARG, "partition_low is {}, partition_high {}", low, high);
  for (const int end : {low, high})
    if (const int code = check_partition(*which, end)) return code;
  for (int i = low; i <= high; ++i)
    if (const int code = mark_ready(*which, i)) return code;
  return MPI_SUCCESS;
}

int pready_list(int length, const int* partitions, request& r) {
  auto* which = sender(r);
  if (which == nullptr) return refuse_request();
  for (int i = 0; i < length; ++i)
    if (const int code = mark_ready(*which, partitions[i])) return code;
  return MPI_SUCCESS;
}

int parrived(request* r, int partition, int& flag) {
  flag = 1;
  if (r == nullptr) return MPI_SUCCESS;
  auto* which = dynamic_cast<partitioned_receive*>(r);
  if (which == nullptr) return refuse_request();
  if (const int code = check_partition(*which, partition)) return code;
  poll_while([&] { return !which->has_arrived(partition); });
  flag = which->has_arrived(partition);
  if (flag && recording()) [[unlikely]]
    which->trace_arrival(partition);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
