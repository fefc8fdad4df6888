#include "mpi/point_to_point/request_attachment.hpp"

#include <memory>

#include "mpi/objects/pool.hpp"
#include "mpi/point_to_point/request.hpp"

namespace headway::mpi {
namespace {

/// A request with an attachment: stands for the request that it holds.
/// Threads:  see `request`.
class attached_request final : public request {
 public:
  attached_request(request& inner, request_attachment* what) : inner_(inner), what_(what) {
    persistent = inner.persistent;
    follow();
  }

  int start() override {
    what_->before_start();
    const int code = inner_.start();
    follow();
    return code;
  }
  int finish(MPI_Status& status) override {
    what_->after_end();
    return inner_.finish(status);
  }
  int cancel() override { return inner_.cancel(); }
  [[nodiscard]] bool may_be_abandoned() const noexcept override {
    return what_->may_be_abandoned() && inner_.may_be_abandoned();
  }
  int leave() override { return inner_.leave(); }
  void release() noexcept override {
    inner_.release();
    pool<attached_request>::all().drop(this);
  }

 private:
  void follow() noexcept {
    pending = inner_.pending;
    comm = inner_.comm;
    active = inner_.active;
  }

  request& inner_;
  std::unique_ptr<request_attachment> what_;
};

}  // namespace
}  // namespace headway::mpi

void headway_attach_to_request(MPI_Request* request, headway::mpi::request_attachment* what) {
  using namespace headway::mpi;
  auto& inner = *find<headway::mpi::request>(*request);
  *request = handle_of<headway::mpi::request>(pool<attached_request>::all().make(inner, what));
}
