#include "mpi/point_to_point/status_calls.hpp"

#include "mpi/environment/failure.hpp"
#include "mpi/objects/status.hpp"

namespace headway::mpi::calls {
namespace {

/// Bytes of the first `count` basic elements of the type's packed form.
std::int64_t bytes_of(const datatypes::layout& layout, MPI_Count count) {
  const std::int64_t each = layout.elements();
  if (each == 0) return 0;
  std::int64_t bytes = count / each * layout.size();
  const std::int64_t rest = count % each;
  if (rest == 0) return bytes;
  std::int64_t part = 0;
  while (layout.elements_in(part) != rest && part < layout.size()) ++part;
  return bytes + part;
}

}  // namespace

int get_count(const MPI_Status& status, datatype& type, MPI_Count& count) {
  const std::int64_t size = type.layout().size(), bytes = status_bytes(status);
  count = MPI_UNDEFINED;
  if (size == 0 && bytes == 0) count = 0;
  if (size > 0 && bytes % size == 0) count = bytes / size;
  return MPI_SUCCESS;
}

int get_elements(const MPI_Status& status, datatype& type, MPI_Count& count) {
  count = type.layout().elements_in(status_bytes(status));
  if (count < 0) count = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int test_cancelled(const MPI_Status& status, int& flag) {
  flag = status_cancelled(status);
  return MPI_SUCCESS;
}

int status_get_source(const MPI_Status& status, int& source) {
  source = status.MPI_SOURCE;
  return MPI_SUCCESS;
}
int status_get_tag(const MPI_Status& status, int& tag) {
  tag = status.MPI_TAG;
  return MPI_SUCCESS;
}
int status_get_error(const MPI_Status& status, int& error) {
  error = status.MPI_ERROR;
  return MPI_SUCCESS;
}
int status_set_source(MPI_Status& status, int source) {
  status.MPI_SOURCE = source;
  return MPI_SUCCESS;
}
int status_set_tag(MPI_Status& status, int tag) {
  status.MPI_TAG = tag;
  return MPI_SUCCESS;
}
int status_set_error(MPI_Status& status, int error) {
  status.MPI_ERROR = error;
  return MPI_SUCCESS;
}
int status_set_cancelled(MPI_Status& status, int flag) {
  mpi::set_status_cancelled(status, flag != 0);
  return MPI_SUCCESS;
}

int status_set_elements(MPI_Status& status, datatype& type, MPI_Count count) {
  if (count < 0) return fail(MPI_ERR_COUNT, "argument 3 (count) is {}", count);
  set_status_bytes(status, bytes_of(type.layout(), count));
  return MPI_SUCCESS;
}

}  // namespace headway::mpi::calls
