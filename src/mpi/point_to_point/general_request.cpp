// Generalized requests (MPI_Grequest_start).
#include <utility>

#include "mpi/environment/failure.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/request_calls.hpp"

namespace headway::mpi {
namespace {

/// The request of MPI_Grequest_start: an operation that the program itself performs.
class general_request final : public request {
 public:
  general_request(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                  MPI_Grequest_cancel_function* on_cancel, void* extra_state)
      : query_(query), free_(free), cancel_(on_cancel), extra_state_(extra_state) {
    pending = &done_;
  }

  int finish(MPI_Status& status) override {
    set_status_done(status);
    return checked(query_ ? query_(extra_state_, &status) : MPI_SUCCESS, "query");
  }
  int cancel() override {
    return checked(cancel_ ? cancel_(extra_state_, done_.test()) : MPI_SUCCESS, "cancel");
  }
  int leave() override {
    auto* const call = std::exchange(free_, nullptr);
    return checked(call ? call(extra_state_) : MPI_SUCCESS, "free");
  }
  void release() noexcept override {
    (void)leave();  // MPI_Request_free
    pool<general_request>::all().drop(this);
  }
  void complete() noexcept { done_.complete(); }

 private:
  static int checked(int code, const char* which) {
    if (code == MPI_SUCCESS) return code;
    return fail(code, "the {} function of the request returned {}", which, code);
  }

  MPI_Grequest_query_function* query_;
  MPI_Grequest_free_function* free_;
  MPI_Grequest_cancel_function* cancel_;
  void* extra_state_;
  progress::completion done_;
};

}  // namespace

namespace calls {

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

}  // namespace calls
}  // namespace headway::mpi
