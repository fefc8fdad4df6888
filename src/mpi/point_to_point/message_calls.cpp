#include "mpi/point_to_point/message_calls.hpp"

#include "base/clock.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/message_request.hpp"
#include "mpi/point_to_point/pair_request.hpp"
#include "mpi/point_to_point/send_buffer.hpp"

namespace headway::mpi::calls {
namespace {

message_call to(const void* buf, MPI_Count count, const datatype& type, int dest, int tag,
                communicator& comm) noexcept {
  return {const_cast<void*>(buf), count, &type, dest, tag, &comm, message_mode::standard};
}

message_call from(void* buf, MPI_Count count, const datatype& type, int source, int tag,
                  communicator& comm) noexcept {
  return {buf, count, &type, source, tag, &comm, message_mode::receive};
}

int found_nothing_there(MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) set_status_no_process(*status);
  return MPI_SUCCESS;
}

/// The object of MPI_MESSAGE_NO_PROC.
message& no_process() {
  static auto* const made = [] {
    auto* only = new message;
    define(*only, object_kind::message, reinterpret_cast<std::uintptr_t>(MPI_MESSAGE_NO_PROC));
    return only;
  }();
  return *made;
}

[[maybe_unused]] const message& defined_at_load = no_process();

/// Takes a matching message that has arrived; `made` stays null if there is none.
int take_message(int source, int tag, communicator& comm, message*& made) {
  made = nullptr;
  messages::arrival arrived;
  messages::unexpected_message* unexpected =
      exchange().probe_matched(comm.messages(), source, wire_tag(tag), arrived);
  if (unexpected == nullptr) return code_of(arrived, comm, true);
  made = pool<message>::all().make();
  made->unexpected = unexpected;
  made->arrival = arrived;
  made->comm = &comm;
  return MPI_SUCCESS;
}

}  // namespace

int recv(void* buf, MPI_Count count, datatype& type, int source, int tag, communicator& comm,
         MPI_Status* status) {
  return receive_and_wait(from(buf, count, type, source, tag, comm), status);
}

int sendrecv(const void* sendbuf, MPI_Count sendcount, datatype& sendtype, int dest, int sendtag,
             void* recvbuf, MPI_Count recvcount, datatype& recvtype, int source, int recvtag,
             communicator& comm, MPI_Status* status) {
  return send_and_receive(to(sendbuf, sendcount, sendtype, dest, sendtag, comm),
                          from(recvbuf, recvcount, recvtype, source, recvtag, comm), status);
}

int sendrecv_replace(void* buf, MPI_Count count, datatype& type, int dest, int sendtag, int source,
                     int recvtag, communicator& comm, MPI_Status* status) {
  request* r = nullptr;
  if (const int code =
          isendrecv_replace(buf, count, type, dest, sendtag, source, recvtag, comm, r)) {
    return code;
  }
  if (!r->is_complete()) engine().wait(*r->pending);
  MPI_Status ignored;
  const int code = r->finish(status == MPI_STATUS_IGNORE ? ignored : *status);
  r->release();
  return code;
}

int isendrecv(const void* sendbuf, MPI_Count sendcount, datatype& sendtype, int dest, int sendtag,
              void* recvbuf, MPI_Count recvcount, datatype& recvtype, int source, int recvtag,
              communicator& comm, request*& r) {
  r = pool<pair_request>::all().make(to(sendbuf, sendcount, sendtype, dest, sendtag, comm),
                                     from(recvbuf, recvcount, recvtype, source, recvtag, comm),
                                     false);
  return MPI_SUCCESS;
}

int isendrecv_replace(void* buf, MPI_Count count, datatype& type, int dest, int sendtag, int source,
                      int recvtag, communicator& comm, request*& r) {
  r = pool<pair_request>::all().make(to(buf, count, type, dest, sendtag, comm),
                                     from(buf, count, type, source, recvtag, comm), true);
  return MPI_SUCCESS;
}

int probe(int source, int tag, communicator& comm, MPI_Status* status) {
  int flag = 0;
  while (true) {
    const int code = iprobe(source, tag, comm, flag, status);
    if (code != MPI_SUCCESS || flag) return code;
    exchange().await_message(comm.messages(), source, wire_tag(tag));
  }
}

int iprobe(int source, int tag, communicator& comm, int& flag, MPI_Status* status) {
  flag = 1;
  if (source == MPI_PROC_NULL) return found_nothing_there(status);
  messages::arrival arrived;
  flag = exchange().probe(comm.messages(), source, wire_tag(tag), arrived);
  if (arrived.how != messages::outcome::ok) return code_of(arrived, comm, true);
  if (flag && status != MPI_STATUS_IGNORE) set_status(*status, arrived);
  return MPI_SUCCESS;
}

int mprobe(int source, int tag, communicator& comm, message*& found, MPI_Status* status) {
  int flag = 0;
  while (true) {
    const int code = improbe(source, tag, comm, flag, found, status);
    if (code != MPI_SUCCESS || flag) return code;
    exchange().await_message(comm.messages(), source, wire_tag(tag));
  }
}

int improbe(int source, int tag, communicator& comm, int& flag, message*& found,
            MPI_Status* status) {
  flag = 1;
  if (source == MPI_PROC_NULL) {
    found = &no_process();
    return found_nothing_there(status);
  }
  const int code = take_message(source, tag, comm, found);
  flag = found != nullptr;
  if (flag && status != MPI_STATUS_IGNORE) set_status(*status, found->arrival);
  return code;
}

int mrecv(void* buf, MPI_Count count, datatype& type, message*& taken, MPI_Status* status) {
  message* const one = taken;
  taken = nullptr;
  if (one->unexpected == nullptr) return found_nothing_there(status);
  const message_call call =
      from(buf, count, type, one->arrival.source, one->arrival.tag, *one->comm);
  messages::unexpected_message* const unexpected = one->unexpected;
  pool<message>::all().drop(one);
  return receive_unexpected_and_wait(call, unexpected, status);
}

int imrecv(void* buf, MPI_Count count, datatype& type, message*& taken, request*& r) {
  message* const one = taken;
  taken = nullptr;
  message_request& made = message_request::take();
  r = &made;
  if (one->unexpected == nullptr) {
    return made.begin_unexpected(
        from(buf, count, type, MPI_PROC_NULL, MPI_ANY_TAG, *the_library.self), nullptr);
  }
  const message_call call =
      from(buf, count, type, one->arrival.source, one->arrival.tag, *one->comm);
  messages::unexpected_message* const unexpected = one->unexpected;
  pool<message>::all().drop(one);
  return made.begin_unexpected(call, unexpected);
}

}  // namespace headway::mpi::calls
