#include "mpi/point_to_point/buffer_calls.hpp"

#include <cstring>

#include "mpi/environment/failure.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/send_buffer.hpp"

namespace headway::mpi {
namespace {

/// The request of MPI_X_iflush_buffer: completes when all messages now in the buffer are sent.
class flush_request final : public request {
 public:
  explicit flush_request(std::shared_ptr<send_buffer> buffer) : buffer_(std::move(buffer)) {
    pending = &self_.done;
    if (buffer_) {
      buffer_->notify(self_);
    } else {
      self_.done.complete();
    }
  }
  int finish(MPI_Status& status) override {
    set_status_done(status);
    return MPI_SUCCESS;
  }
  void release() noexcept override { pool<flush_request>::all().drop(this); }

 private:
  std::shared_ptr<send_buffer> buffer_;
  send_buffer::waiter self_;
};

int attach(buffer_place& where, void* memory, MPI_Count size) {
  if (memory == nullptr && size > 0) return fail(MPI_ERR_BUFFER, "the buffer is a null pointer");
  if (!where.attach(make_buffer(memory, size)))
    return fail(MPI_ERR_BUFFER, "a buffer is attached already");
  return MPI_SUCCESS;
}

int detach(buffer_place& where, void* address, MPI_Count& size) {
  void* memory = nullptr;
  size = 0;
  if (const auto attached = where.detach()) {
    attached->close();
    memory = attached->memory();
    size = attached->bytes();
  }
  std::memcpy(address, &memory, sizeof memory);
  return MPI_SUCCESS;
}

int flush(const buffer_place& where) {
  if (const auto attached = where.get()) attached->flush();
  return MPI_SUCCESS;
}

int iflush(const buffer_place& where, request*& r) {
  r = pool<flush_request>::all().make(where.get());
  return MPI_SUCCESS;
}

}  // namespace

namespace calls {

int buffer_attach(void* buffer, MPI_Count size) { return attach(process_buffer(), buffer, size); }
int buffer_detach(void* buffer_addr, MPI_Count& size) {
  return detach(process_buffer(), buffer_addr, size);
}
int buffer_flush() { return flush(process_buffer()); }
int buffer_iflush(request*& r) { return iflush(process_buffer(), r); }

int comm_attach_buffer(communicator& comm, void* buffer, MPI_Count size) {
  return attach(comm.buffer, buffer, size);
}
int comm_detach_buffer(communicator& comm, void* buffer_addr, MPI_Count& size) {
  return detach(comm.buffer, buffer_addr, size);
}
int comm_flush_buffer(communicator& comm) { return flush(comm.buffer); }
int comm_iflush_buffer(communicator& comm, request*& r) { return iflush(comm.buffer, r); }

int session_attach_buffer(session& which, void* buffer, MPI_Count size) {
  return attach(which.origin->buffer, buffer, size);
}
int session_detach_buffer(session& which, void* buffer_addr, MPI_Count& size) {
  return detach(which.origin->buffer, buffer_addr, size);
}
int session_flush_buffer(session& which) { return flush(which.origin->buffer); }
int session_iflush_buffer(session& which, request*& r) { return iflush(which.origin->buffer, r); }

}  // namespace calls
}  // namespace headway::mpi
