#include "mpi/fortran/special.hpp"

#include <algorithm>

#include "mpi/fortran/conversions.hpp"

namespace headway::mpi::fortran::special {
namespace {

/// An index that a call writes, also where the operation that it names has failed.
class found_index {
 public:
  explicit found_index(int* at) noexcept : at_(at) {}
  ~found_index() { *at_ = found_ == MPI_UNDEFINED ? found_ : found_ + 1; }
  found_index(const found_index&) = delete;
  found_index& operator=(const found_index&) = delete;

  [[nodiscard]] int* address() noexcept { return &found_; }

 private:
  int* at_;
  int found_ = MPI_UNDEFINED;
};

void count_from_one(int* indices, int count) {
  if (count == MPI_UNDEFINED) return;
  for (int i = 0; i < count; ++i) ++indices[i];
}

}  // namespace

int init() { return PMPI_Init(nullptr, nullptr); }

int init_thread(const int* required, int* provided) {
  return PMPI_Init_thread(nullptr, nullptr, *required, provided);
}

int info_create_env(int* info) {
  written<MPI_Info> info_(info);
  return PMPI_Info_create_env(0, nullptr, info_.address());
}

int pcontrol(const int* level) { return PMPI_Pcontrol(*level); }

int waitany(const int* count, int* requests, int* index, int* status) {
  exchanged_array<MPI_Request> requests_(requests, *count);
  found_index index_(index);
  return PMPI_Waitany(*count, requests_.data(), index_.address(), status_or_ignore(status));
}

int testany(const int* count, int* requests, int* index, int* flag, int* status) {
  exchanged_array<MPI_Request> requests_(requests, *count);
  found_index index_(index);
  return PMPI_Testany(*count, requests_.data(), index_.address(), flag, status_or_ignore(status));
}

int request_get_status_any(const int* count, const int* requests, int* index, int* flag,
                           int* status) {
  handle_array<MPI_Request> requests_(requests, *count);
  found_index index_(index);
  return PMPI_Request_get_status_any(*count, requests_.data(), index_.address(), flag,
                                     status_or_ignore(status));
}

int waitsome(const int* count, int* requests, int* done, int* indices, int* statuses) {
  exchanged_array<MPI_Request> requests_(requests, *count);
  *done = 0;
  const int code =
      PMPI_Waitsome(*count, requests_.data(), done, indices, statuses_or_ignore(statuses));
  count_from_one(indices, *done);
  return code;
}

int testsome(const int* count, int* requests, int* done, int* indices, int* statuses) {
  exchanged_array<MPI_Request> requests_(requests, *count);
  *done = 0;
  const int code =
      PMPI_Testsome(*count, requests_.data(), done, indices, statuses_or_ignore(statuses));
  count_from_one(indices, *done);
  return code;
}

int request_get_status_some(const int* count, const int* requests, int* done, int* indices,
                            int* statuses) {
  handle_array<MPI_Request> requests_(requests, *count);
  *done = 0;
  const int code = PMPI_Request_get_status_some(*count, requests_.data(), done, indices,
                                                statuses_or_ignore(statuses));
  count_from_one(indices, *done);
  return code;
}

int info_get(const int* info, const char* key, const int* valuelen, char* value, int* flag,
             std::size_t key_length, std::size_t value_length) {
  const trimmed_text key_(key, key_length);
  std::string found(static_cast<std::size_t>(std::max(*valuelen, 0)) + 1, '\0');
  const int code =
      PMPI_Info_get(handle<MPI_Info>(*info), key_.get(), *valuelen, found.data(), flag);
  if (code == MPI_SUCCESS && *flag) pad(value, value_length, found.c_str());
  return code;
}

int info_get_string(const int* info, const char* key, int* buflen, char* value, int* flag,
                    std::size_t key_length, std::size_t value_length) {
  const trimmed_text key_(key, key_length);
  int length = *buflen > 0 ? *buflen + 1 : 0;
  std::string found(static_cast<std::size_t>(length) + 1, '\0');
  const int code =
      PMPI_Info_get_string(handle<MPI_Info>(*info), key_.get(), &length, found.data(), flag);
  if (code == MPI_SUCCESS && *flag) {
    if (*buflen > 0) pad(value, value_length, found.c_str());
    *buflen = length - 1;
  }
  return code;
}

int session_get_nth_pset(const int* session, const int* info, const int* n, int* pset_len,
                         char* name, std::size_t name_length) {
  int length = *pset_len > 0 ? *pset_len + 1 : 0;
  std::string found(static_cast<std::size_t>(length) + 1, '\0');
  const int code = PMPI_Session_get_nth_pset(handle<MPI_Session>(*session), handle<MPI_Info>(*info),
                                             *n, &length, found.data());
  if (code == MPI_SUCCESS && *pset_len > 0) pad(name, name_length, found.c_str());
  if (code == MPI_SUCCESS) *pset_len = length - 1;
  return code;
}

int f_sync_reg(void*) { return MPI_SUCCESS; }

int status_f2f08(const int* from, int* to) {
  std::copy_n(from, static_cast<int>(MPI_F_STATUS_SIZE), to);
  return MPI_SUCCESS;
}

int status_f082f(const int* from, int* to) { return status_f2f08(from, to); }

}  // namespace headway::mpi::fortran::special

using headway::mpi::fortran::descriptor;

#pragma GCC visibility push(default)
extern "C" {

/// MPI_SIZEOF, of the module mpi and of mpi_f08.
void mpi_sizeof_f08ts_(const descriptor* x, int* size, int* ierror) {
  *size = static_cast<int>(x->element_bytes);
  if (ierror != nullptr) *ierror = MPI_SUCCESS;
}
}
#pragma GCC visibility pop
