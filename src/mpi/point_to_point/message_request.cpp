#include "mpi/point_to_point/message_request.hpp"

#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/send_buffer.hpp"

namespace headway::mpi {

/// The free requests of one thread. They are exchanged with the pool a few at a time, so that they
/// do not accumulate in a thread that only frees requests of other threads.
struct request_cache {
  static constexpr int kept_max = 128;

  message_request* first = nullptr;
  int count = 0;

  ~request_cache() {
    while (first != nullptr) give_back();
  }
  void give_back() noexcept {
    message_request* one = first;
    first = one->next_free_;
    --count;
    pool<message_request>::all().drop(one);
  }
  [[nodiscard]] message_request* pop() noexcept {
    message_request* one = first;
    if (one == nullptr) return nullptr;
    first = one->next_free_;
    --count;
    return one;
  }
  void push(message_request& one) noexcept {
    if (count == kept_max) {
      for (int i = 0; i < kept_max / 2; ++i) give_back();
    }
    one.next_free_ = first;
    first = &one;
    ++count;
  }
};

namespace {

thread_local request_cache mine;

messages::send_mode wire_mode(message_mode mode) noexcept {
  switch (mode) {
    case message_mode::synchronous:
      return messages::send_mode::synchronous;
    case message_mode::ready:
      return messages::send_mode::ready;
    default:
      return messages::send_mode::standard;
  }
}

/// The bytes of a message: the user's memory if they are one block there, else `packed`.
struct block {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  std::unique_ptr<std::byte[]> packed = {};
};

block block_for(const message_call& call) {
  const auto& layout = call.type->layout();
  block made;
  made.bytes = static_cast<std::size_t>(layout.size() * call.count);
  if (layout.is_one_block(call.count)) {
    made.at = static_cast<std::byte*>(call.buffer) + layout.true_lb();
    return made;
  }
  made.packed = std::make_unique_for_overwrite<std::byte[]>(made.bytes);
  made.at = made.packed.get();
  if (call.mode != message_mode::receive) layout.pack(call.buffer, call.count, made.at);
  return made;
}

void unpack_into(const message_call& call, const block& from, std::size_t bytes) noexcept {
  call.type->layout().unpack(from.at, 0, static_cast<std::int64_t>(bytes), call.buffer, call.count);
}

int end_receive(const message_call& call, const block& where, const messages::request& wire,
                MPI_Status* status) {
  if (where.packed) unpack_into(call, where, wire.arrived.bytes);
  if (status != MPI_STATUS_IGNORE) set_status(*status, wire.arrived);
  return wire.arrived.how == messages::outcome::ok ? MPI_SUCCESS
                                                   : code_of(wire.arrived, *call.comm, true);
}

}  // namespace

int code_of(const messages::arrival& end, const communicator& comm, bool receive) {
  switch (end.how) {
    case messages::outcome::ok:
    case messages::outcome::cancelled:
      return MPI_SUCCESS;
    case messages::outcome::truncated:
      return fail_on(&comm, MPI_ERR_TRUNCATE,
                     fmt::format("the message from rank {} with tag {} is longer than the {} bytes "
                                 "of the receive buffer",
                                 end.source, end.tag, end.bytes));
    case messages::outcome::peer_lost:
      return fail_on(&comm, MPI_ERR_PROC_ABORTED,
                     receive ? std::string("a process that the message could come from is gone")
                             : std::string("the process that the message was for is gone"));
    case messages::outcome::failed:
      break;
  }
  return fail_on(&comm, MPI_ERR_OTHER, "the message could not be moved");
}

/// The attached buffer copies the data and sends the copy.
static int send_buffered(const datatypes::layout& layout, const message_call& call) {
  const auto buffer = buffer_for(*call.comm);
  if (!buffer) return fail(MPI_ERR_BUFFER, "no buffer is attached");
  return buffer->send(layout, call);
}

int run_message(const message_call& call) {
  if (call.peer == MPI_PROC_NULL) return MPI_SUCCESS;
  if (call.mode == message_mode::buffered) [[unlikely]]
    return send_buffered(call.type->layout(), call);
  const block data = block_for(call);
  messages::request wire;
  wire.background = false;
  exchange().send(call.comm->messages(), wire, {data.at, data.bytes}, call.peer, call.tag,
                  wire_mode(call.mode));
  if (!wire.test()) engine().wait(wire);
  return wire.arrived.how == messages::outcome::ok ? MPI_SUCCESS
                                                   : code_of(wire.arrived, *call.comm, false);
}

int start_message(const message_call& call, request*& made) {
  message_request& r = message_request::take();
  const int code = r.begin(call);
  if (code != MPI_SUCCESS) [[unlikely]] {
    r.release();
    return code;
  }
  made = &r;
  return MPI_SUCCESS;
}

int prepare_message(const message_call& call, request*& made) {
  message_request& r = message_request::take();
  r.persistent = true;
  r.active = false;
  r.prepare(call);
  made = &r;
  return MPI_SUCCESS;
}

int receive_and_wait(const message_call& call, MPI_Status* status) {
  if (call.peer == MPI_PROC_NULL) {
    if (status != MPI_STATUS_IGNORE) set_status_no_process(*status);
    return MPI_SUCCESS;
  }
  const block room = block_for(call);
  messages::request wire;
  wire.background = false;
  exchange().receive(call.comm->messages(), wire, {room.at, room.bytes}, call.peer,
                     wire_tag(call.tag));
  if (!wire.test()) engine().wait(wire);
  return end_receive(call, room, wire, status);
}

int receive_unexpected_and_wait(const message_call& call, messages::unexpected_message* unexpected,
                                MPI_Status* status) {
  const block room = block_for(call);
  messages::request wire;
  wire.background = false;
  exchange().receive_unexpected(call.comm->messages(), wire, unexpected, {room.at, room.bytes});
  if (!wire.test()) engine().wait(wire);
  return end_receive(call, room, wire, status);
}

message_request& message_request::take() {
  message_request* one = mine.pop();
  if (one == nullptr) return *pool<message_request>::all().make();
  const std::uintptr_t low = object_alignment - 1;
  one->become(object_kind::request, (one->bits() & ~low) | ((one->bits() + 1) & low));
  return *one;
}

void message_request::release() noexcept {
  forget_number(*this);
  retire();
  if (packed_) {
    memory_.reset();
    layout_ = {};
    wire_.finish = nullptr;
    packed_ = false;
  }
  pending = nullptr;
  comm = nullptr;
  used_.store(nullptr, std::memory_order_relaxed);  // as in `uses`
  persistent = false;
  active = true;
  mine.push(*this);
}

void message_request::prepare(const message_call& call) {
  comm = call.comm;
  used_.store(call.comm, std::memory_order_relaxed);  // as in `uses`
  mode_ = call.mode;
  peer_ = call.peer;
  tag_ = call.tag;
  buffer_ = call.buffer;
  count_ = call.count;
  const auto& layout = call.type->layout();
  bytes_ = static_cast<std::size_t>(layout.size() * call.count);
  if (mode_ == message_mode::buffered) {
    packed_ = true;  // the buffer packs it, in `start`
    layout_ = call.type->shared_layout();
    return;
  }
  if (layout.is_one_block(call.count)) {
    data_ = static_cast<std::byte*>(call.buffer) + layout.true_lb();
    return;
  }
  packed_ = true;
  layout_ = call.type->shared_layout();
  memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  data_ = memory_.get();
  if (mode_ == message_mode::receive) {
    wire_.finish = &unpack;
    wire_.owner = this;
  }
}

bool message_request::unpack(messages::request& done) noexcept {
  auto& self = *static_cast<message_request*>(done.owner);
  self.layout_->unpack(self.data_, 0, static_cast<std::int64_t>(done.arrived.bytes), self.buffer_,
                       self.count_);
  return true;
}

int message_request::begin(const message_call& call) {
  prepare(call);
  return start();
}

int message_request::start() {
  active = true;
  if (peer_ == MPI_PROC_NULL) {
    pending = nullptr;
    return MPI_SUCCESS;
  }
  if (mode_ == message_mode::buffered) {
    pending = nullptr;  // complete at once
    return send_buffered(*layout_, {buffer_, count_, nullptr, peer_, tag_, comm, mode_});
  }
  if (packed_ && mode_ != message_mode::receive) layout_->pack(buffer_, count_, data_);
  wire_.reset();
  wire_.arrived = {};
  pending = &wire_;
  run();
  return MPI_SUCCESS;
}

void message_request::run() noexcept {
  auto& exchange = mpi::exchange();
  if (mode_ == message_mode::receive) {
    exchange.receive(comm->messages(), wire_, {data_, bytes_}, peer_, wire_tag(tag_));
  } else {
    exchange.send(comm->messages(), wire_, {data_, bytes_}, peer_, tag_, wire_mode(mode_));
  }
}

int message_request::begin_unexpected(const message_call& call,
                                      messages::unexpected_message* unexpected) {
  prepare(call);
  active = true;
  if (unexpected == nullptr) {  // MPI_MESSAGE_NO_PROC
    pending = nullptr;
    return MPI_SUCCESS;
  }
  wire_.reset();
  wire_.arrived = {};
  pending = &wire_;
  exchange().receive_unexpected(comm->messages(), wire_, unexpected, {data_, bytes_});
  return MPI_SUCCESS;
}

int message_request::finish(MPI_Status& status) {
  if (pending == nullptr) {  // MPI_PROC_NULL
    if (mode_ == message_mode::receive) {
      set_status_no_process(status);
    } else {
      set_status_done(status);
    }
    return MPI_SUCCESS;
  }
  if (mode_ == message_mode::receive) {
    set_status(status, wire_.arrived);
  } else {
    set_status_done(status);
  }
  if (wire_.arrived.how == messages::outcome::ok) [[likely]]
    return MPI_SUCCESS;
  return code_of(wire_.arrived, *comm, mode_ == message_mode::receive);
}

int message_request::cancel() {
  if (mode_ == message_mode::receive && pending != nullptr) exchange().cancel(wire_);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
