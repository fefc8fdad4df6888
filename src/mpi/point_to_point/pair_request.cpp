#include "mpi/point_to_point/pair_request.hpp"

#include "mpi/environment/library.hpp"
#include "mpi/objects/status.hpp"

namespace headway::mpi {
namespace {

/// The memory for the data: the user's if it is one block there, else new memory.
std::byte* place_for(const message_call& call, bool copy, std::unique_ptr<std::byte[]>& memory) {
  const auto& layout = call.type->layout();
  if (!copy && layout.is_one_block(call.count)) {
    return static_cast<std::byte*>(call.buffer) + layout.true_lb();
  }
  memory = std::make_unique_for_overwrite<std::byte[]>(bytes_of(call));
  return memory.get();
}

}  // namespace

pair_request::pair_request(const message_call& send, const message_call& receive, bool replace)
    : receive_(receive), kept_(*send.comm), layout_(receive.type->shared_layout()) {
  comm = send.comm;
  pending = &both_;
  std::byte* out = place_for(send, replace, outgoing_);
  if (outgoing_) send.type->layout().pack(send.buffer, send.count, out);
  std::byte* in = place_for(receive, false, incoming_);
  for (auto* each : {&sent_, &received_}) {
    each->finish = &on_part;
    each->owner = this;
  }
  auto& exchange = mpi::exchange();
  if (receive.peer == MPI_PROC_NULL) {
    part_ended();
  } else {
    exchange.receive(comm->messages(), received_, {in, bytes_of(receive)}, receive.peer,
                     wire_tag(receive.tag));
  }
  if (send.peer == MPI_PROC_NULL) {
    part_ended();
  } else {
    exchange.send(comm->messages(), sent_, {out, bytes_of(send)}, send.peer, send.tag);
  }
}

/// Returns false, so that neither part becomes complete by itself and the last access to this
/// object is the completion of `both_`.
bool pair_request::on_part(messages::request& done) noexcept {
  auto& self = *static_cast<pair_request*>(done.owner);
  if (&done == &self.received_ && self.incoming_) {
    self.layout_->unpack(self.incoming_.get(), 0, static_cast<std::int64_t>(done.arrived.bytes),
                         self.receive_.buffer, self.receive_.count);
  }
  self.part_ended();
  return false;
}

void pair_request::part_ended() noexcept {
  // Release and acquire: the thread that ends second sees what the first one wrote.
  if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1) both_.complete();
}

int pair_request::finish(MPI_Status& status) {
  if (receive_.peer == MPI_PROC_NULL) {
    set_status_no_process(status);
  } else {
    set_status(status, received_.arrived);
    if (received_.arrived.how != messages::outcome::ok) {
      return code_of(received_.arrived, *comm, true);
    }
  }
  return sent_.arrived.how == messages::outcome::ok ? MPI_SUCCESS
                                                    : code_of(sent_.arrived, *comm, false);
}

void pair_request::release() noexcept { pool<pair_request>::all().drop(this); }

}  // namespace headway::mpi
