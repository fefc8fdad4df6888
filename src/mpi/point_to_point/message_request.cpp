#include "mpi/point_to_point/message_request.hpp"

#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/send_buffer.hpp"

namespace headway::mpi {

std::size_t bytes_of(const message_call& call) noexcept {
  return static_cast<std::size_t>(call.type->layout().size() * call.count);
}

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

/// The memory of data that is one block.
std::span<std::byte> block_of(const message_call& call) noexcept {
  const auto& layout = call.type->layout();
  return {static_cast<std::byte*>(call.buffer) + layout.true_lb(), bytes_of(call)};
}

bool is_one_block(const message_call& call) noexcept {
  return call.type->layout().is_one_block(call.count);
}

scattered_data scattered_in(const message_call& call) {
  const bool receives = call.mode == message_mode::receive;
  return {call.type->shared_layout(), call.buffer, call.count,
          receives ? scattered_data::direction::in : scattered_data::direction::out};
}

int end_send(const message_call& call, messages::request& wire) {
  if (recording()) [[unlikely]]
    finish_recorded_send({.comm = *call.comm, .peer = call.peer, .tag = call.tag, .wire = wire},
                         wire);
  else if (!wire.test()) engine().wait(wire);
  return wire.arrived.how == messages::outcome::ok ? MPI_SUCCESS
                                                   : code_of(wire.arrived, *call.comm, false);
}

int end_receive(const message_call& call, messages::request& wire, MPI_Status* status) {
  if (wire.times) [[unlikely]]
    finish_recorded_receive(wire, *call.comm, call.peer, is_brief(bytes_of(call)));
  else if (!wire.test()) engine().wait(wire);
  if (status != MPI_STATUS_IGNORE) set_status(*status, wire.arrived);
  if (wire.arrived.how == messages::outcome::ok) [[likely]]
    return MPI_SUCCESS;
  if (wire.times) report::own_record().expect_nothing();
  return code_of(wire.arrived, *call.comm, true);
}

/// The request of a blocking call. The thread keeps one for it, because to make a request means to
/// set some 400 bytes to zero. A call inside another one, of an error handler or a reduction, makes
/// its own, and so does one whose data is not one block.
/// `noted`: `times` is asked for, while calls are recorded.
class blocking_request {
 public:
  enum class data : bool { one_block, scattered };
  explicit blocking_request(data of, bool noted = true) noexcept : wire_(take(of)) {
    wire_.reset();
    wire_.arrived = {};
    wire_.background = false;
    wire_.times = nullptr;
    if (noted && recording()) [[unlikely]] {
      noted_ = {};
      wire_.times = &noted_;
    }
  }
  ~blocking_request() {
    if (!own_) spare_ = &wire_;
  }
  blocking_request(const blocking_request&) = delete;
  blocking_request& operator=(const blocking_request&) = delete;
  operator messages::request&() noexcept { return wire_; }

 private:
  messages::request& take(data of) noexcept {
    if (of == data::one_block && spare_) [[likely]]
      return *std::exchange(spare_, nullptr);
    return take_other(of);
  }
  [[gnu::cold, gnu::noinline]] messages::request& take_other(data of) noexcept {
    static thread_local messages::request kept;
    static thread_local bool made = false;
    if (of == data::one_block && !std::exchange(made, true)) return kept;
    return own_.emplace();
  }

  static constinit thread_local messages::request* spare_;  ///< null: taken, or not made yet

  std::optional<messages::request> own_;
  messages::request& wire_;
  messages::request_times noted_;
};

constinit thread_local messages::request* blocking_request::spare_ = nullptr;

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

// The forms for data that is not one block are out of line: the others are the common case.

[[gnu::noinline]] static int run_scattered(const message_call& call) {
  scattered_data data = scattered_in(call);
  blocking_request wire(blocking_request::data::scattered);
  exchange().send(call.comm->messages(), wire, data, call.peer, call.tag, wire_mode(call.mode));
  return end_send(call, wire);
}

[[gnu::noinline]] static int receive_scattered(const message_call& call,
                                               messages::unexpected_message* unexpected,
                                               MPI_Status* status) {
  scattered_data memory = scattered_in(call);
  blocking_request wire(blocking_request::data::scattered);
  auto& context = call.comm->messages();
  if (unexpected) exchange().receive_unexpected(context, wire, unexpected, memory);
  else exchange().receive(context, wire, memory, call.peer, wire_tag(call.tag));
  return end_receive(call, wire, status);
}

bool sent_at_once(const message_call& call) noexcept {
  if (call.mode != message_mode::standard || call.peer == MPI_PROC_NULL || !is_one_block(call))
    return false;
  const auto data = block_of(call);
  if (!exchange().send_now(call.comm->messages(), data, call.peer, call.tag)) return false;
  if (recording()) [[unlikely]]
    note_sent(*call.comm, call.peer, call.tag, data.size());
  return true;
}

/// A message that needs a request.
[[gnu::noinline]] static int run_with_request(const message_call& call) {
  if (call.peer == MPI_PROC_NULL) return MPI_SUCCESS;
  if (call.mode == message_mode::buffered) return send_buffered(call.type->layout(), call);
  if (!is_one_block(call)) return run_scattered(call);
  const auto data = block_of(call);
  // A small message leaves without rts, so that there is nothing to note of it.
  blocking_request wire(blocking_request::data::one_block,
                        !is_brief(data.size()) || call.mode != message_mode::standard);
  exchange().send(call.comm->messages(), wire, data, call.peer, call.tag, wire_mode(call.mode));
  return end_send(call, wire);
}

int run_message(const message_call& call) {
  return sent_at_once(call) ? MPI_SUCCESS : run_with_request(call);
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
  if (!is_one_block(call)) [[unlikely]]
    return receive_scattered(call, nullptr, status);
  blocking_request wire(blocking_request::data::one_block);
  exchange().receive(call.comm->messages(), wire, block_of(call), call.peer, wire_tag(call.tag));
  return end_receive(call, wire, status);
}

/// A send is under way; the thread waits for it behind a receive.
static int receive_and_end_send(const message_call& send, messages::request& wire,
                                const message_call& receive, MPI_Status* status) {
  const int received = receive_and_wait(receive, status);
  const int sent = end_send(send, wire);
  return received != MPI_SUCCESS ? received : sent;
}

int send_and_receive(const message_call& send, const message_call& receive, MPI_Status* status) {
  if (sent_at_once(send) || send.peer == MPI_PROC_NULL) return receive_and_wait(receive, status);
  auto& context = send.comm->messages();
  if (!is_one_block(send)) {
    scattered_data data = scattered_in(send);
    blocking_request wire(blocking_request::data::scattered);
    exchange().send(context, wire, data, send.peer, send.tag, wire_mode(send.mode));
    return receive_and_end_send(send, wire, receive, status);
  }
  blocking_request wire(blocking_request::data::one_block);
  exchange().send(context, wire, block_of(send), send.peer, send.tag, wire_mode(send.mode));
  return receive_and_end_send(send, wire, receive, status);
}

int receive_unexpected_and_wait(const message_call& call, messages::unexpected_message* unexpected,
                                MPI_Status* status) {
  if (!is_one_block(call)) return receive_scattered(call, unexpected, status);
  blocking_request wire(blocking_request::data::one_block);
  exchange().receive_unexpected(call.comm->messages(), wire, unexpected, block_of(call));
  return end_receive(call, wire, status);
}

// Each `x_now` is `x`, always inlined: `start_message` and `conclude` call no function between
// these steps (docs/decisions/0051-few-instructions.md).

[[gnu::always_inline]] inline message_request& message_request::take_now() {
  message_request* one = mine.pop();
  if (one == nullptr) return *pool<message_request>::all().make();
  const std::uintptr_t low = object_alignment - 1;
  one->become(object_kind::request, (one->bits() & ~low) | ((one->bits() + 1) & low));
  return *one;
}

message_request& message_request::take() { return take_now(); }

[[gnu::always_inline]] inline void message_request::release_now() noexcept {
  retire();
  wire_.reclaim();
  if (!plain_) {
    scattered_.reset();
    layout_ = {};
    wire_.forget_scattered();
    plain_ = true;
  }
  pending = nullptr;
  comm = nullptr;
  used_.store(nullptr, std::memory_order_relaxed);  // as in `uses`
  persistent = false;
  active = true;
  mine.push(*this);
}

void message_request::release() noexcept { release_now(); }

[[gnu::always_inline]] inline void message_request::prepare_now(const message_call& call) {
  comm = call.comm;
  used_.store(call.comm, std::memory_order_relaxed);  // as in `uses`
  mode_ = call.mode;
  peer_ = call.peer;
  tag_ = call.tag;
  plain_ = mode_ != message_mode::buffered && is_one_block(call);
  if (plain_) {
    const auto data = block_of(call);
    data_ = data.data();
    bytes_ = data.size();
  } else if (mode_ == message_mode::buffered) {
    layout_ = call.type->shared_layout();
    buffer_ = call.buffer;
    count_ = call.count;
  } else {
    scattered_.emplace(call.type->shared_layout(), call.buffer, call.count,
                       mode_ == message_mode::receive ? scattered_data::direction::in
                                                      : scattered_data::direction::out);
  }
}

void message_request::prepare(const message_call& call) { prepare_now(call); }

int message_request::begin(const message_call& call) {
  prepare(call);
  return start();
}

/// Polls when this thread has copied `bytes_between_polls` in calls that only start a send. 50 us
/// after the last poll the event thread would handle what arrives. If each processor has a rank, it
/// would do so on the processor of this thread, which could not copy meanwhile.
static void poll_between_copies(std::size_t copied_bytes) noexcept {
  constexpr std::size_t bytes_between_polls = 512 * 1024;
  static constinit thread_local std::size_t copied = 0;
  copied += copied_bytes;
  if (copied < bytes_between_polls) return;
  copied = 0;
  static_cast<void>(engine().poll());
}

[[gnu::always_inline]] inline int message_request::start_now() {
  active = true;
  if (peer_ == MPI_PROC_NULL) {
    pending = nullptr;
    return MPI_SUCCESS;
  }
  if (mode_ == message_mode::buffered) {
    pending = nullptr;  // complete at once
    return send_buffered(*layout_, {buffer_, count_, nullptr, peer_, tag_, comm, mode_});
  }
  if (mode_ == message_mode::standard && plain_ && !recording() &&
      exchange().send_now(comm->messages(), {data_, bytes_}, peer_, tag_)) {
    pending = nullptr;  // complete at once
    return MPI_SUCCESS;
  }
  wire_.reset();
  wire_.arrived = {};
  pending = &wire_;
  if (recording()) [[unlikely]]
    begin_recording();
  run();
  if (mode_ != message_mode::receive && wire_.test()) poll_between_copies(bytes_);
  return MPI_SUCCESS;
}

int message_request::start() { return start_now(); }

int start_message(const message_call& call, request*& made) {
  message_request& r = message_request::take_now();
  r.prepare_now(call);
  const int code = r.start_now();
  if (code != MPI_SUCCESS) [[unlikely]] {
    r.release();
    return code;
  }
  made = &r;
  return MPI_SUCCESS;
}

[[gnu::always_inline]] inline void message_request::run() noexcept {
  if (!plain_) [[unlikely]]
    return run_scattered();
  auto& exchange = mpi::exchange();
  const std::span data(data_, bytes_);
  if (mode_ == message_mode::receive) {
    exchange.receive(comm->messages(), wire_, data, peer_, wire_tag(tag_));
  } else {
    exchange.send(comm->messages(), wire_, data, peer_, tag_, wire_mode(mode_));
  }
}

void message_request::run_scattered() noexcept {
  auto& exchange = mpi::exchange();
  if (mode_ == message_mode::receive) {
    exchange.receive(comm->messages(), wire_, *scattered_, peer_, wire_tag(tag_));
  } else {
    exchange.send(comm->messages(), wire_, *scattered_, peer_, tag_, wire_mode(mode_));
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
  if (recording()) [[unlikely]]
    begin_recording();
  auto& exchange = mpi::exchange();
  if (plain_) {
    exchange.receive_unexpected(comm->messages(), wire_, unexpected, std::span(data_, bytes_));
  } else {
    exchange.receive_unexpected(comm->messages(), wire_, unexpected, *scattered_);
  }
  return MPI_SUCCESS;
}

[[gnu::always_inline]] inline int message_request::finish_now(MPI_Status& status) {
  if (pending == nullptr) {  // MPI_PROC_NULL, or a send that was complete at once
    if (mode_ == message_mode::receive) {
      set_status_no_process(status);
    } else {
      set_status_done(status);
    }
    return MPI_SUCCESS;
  }
  if (wire_.times) [[unlikely]]
    file();
  if (mode_ == message_mode::receive) {
    set_status(status, wire_.arrived);
  } else {
    wire_.reclaim();
    set_status_done(status);
  }
  if (wire_.arrived.how == messages::outcome::ok) [[likely]]
    return MPI_SUCCESS;
  return code_of(wire_.arrived, *comm, mode_ == message_mode::receive);
}

int message_request::finish(MPI_Status& status) { return finish_now(status); }

int message_request::conclude(MPI_Status& status) {
  const int code = finish_now(status);
  if (code != MPI_SUCCESS) [[unlikely]]
    name_owner_of_failure();
  active = false;
  if (!persistent) release_now();
  return code;
}

void message_request::begin_recording() noexcept {
  if (!record_) record_ = std::make_unique<operation_record>();
  begin_record(*record_, wire_, bytes());
  note_start(recorded(), mode_ == message_mode::receive, bytes(), *record_);
}

/// The operation is complete, and its status is asked for: perhaps not for the first time.
void message_request::file() noexcept {
  if (!record_->by) return;
  const bool receives = mode_ == message_mode::receive;
  if (receives) note_received(recorded());
  file_record(*record_, receives, recorded());
}

bool message_request::waits_briefly() const noexcept {
  return mode_ == message_mode::receive && is_brief(bytes());
}

void message_request::note_wait(const report::wait_span& waited) noexcept {
  if (!wire_.times) return;
  if (mode_ == message_mode::receive) note_receive_wait(recorded(), waited);
  else mpi::note_send_wait(recorded(), record_->started_ns, waited);
}

int message_request::cancel() {
  if (mode_ == message_mode::receive && pending != nullptr) exchange().cancel(wire_);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
