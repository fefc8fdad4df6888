#include "mpi/failure.hpp"
#include "mpi/meaning_requests.hpp"
#include "mpi/pool.hpp"
#include "mpi/status.hpp"

namespace headway::mpi {
namespace {

/// MPI_Grequest_start: an operation that the program itself carries out.
class general_request final : public request {
 public:
  general_request(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                  MPI_Grequest_cancel_function* on_cancel, void* extra_state)
      : query_(query), free_(free), cancel_(on_cancel), extra_state_(extra_state) {
    pending = &done_;
  }

  int finish(MPI_Status& status) override {
    set_status_empty(status);
    if (query_ == nullptr) return MPI_SUCCESS;
    const int code = query_(extra_state_, &status);
    if (code == MPI_SUCCESS) return code;
    return fail(code, "the query function of the request returned {}", code);
  }
  void cancel() override {
    if (cancel_ != nullptr) (void)cancel_(extra_state_, done_.test());
  }
  void release() noexcept override {
    if (free_ != nullptr) (void)free_(extra_state_);
    pool<general_request>::all().drop(this);
  }
  void complete() noexcept { done_.complete(); }

 private:
  MPI_Grequest_query_function* query_;
  MPI_Grequest_free_function* free_;
  MPI_Grequest_cancel_function* cancel_;
  void* extra_state_;
  progress::completion done_;
};

}  // namespace

namespace meaning {

int grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                   MPI_Grequest_cancel_function* cancel, void* extra_state, request*& r) {
  r = pool<general_request>::all().make(query, free, cancel, extra_state);
  return MPI_SUCCESS;
}

int grequest_complete(request& r) {
  auto* general = dynamic_cast<general_request*>(&r);
  if (general == nullptr) return fail(MPI_ERR_REQUEST, "the request is no generalised one");
  if (general->is_complete()) return fail(MPI_ERR_REQUEST, "the request is complete already");
  general->complete();
  return MPI_SUCCESS;
}

}  // namespace meaning
}  // namespace headway::mpi
