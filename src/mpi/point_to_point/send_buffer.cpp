#include "mpi/point_to_point/send_buffer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi {
namespace {

struct attached_buffers {
  buffer_place process;
  base::mutex lock;
  std::vector<std::weak_ptr<send_buffer>> all HEADWAY_GUARDED_BY(lock);
};

attached_buffers& attached() {
  static auto* const made = new attached_buffers;
  return *made;
}

}  // namespace

/// Also waits for a thread that is still in `on_sent`: a request is complete after that.
send_buffer::~send_buffer() {
  for (under_way& each : messages_) {
    if (!each.wire.test()) engine().wait(each.wire);
  }
  HEADWAY_ASSERT(waiters_.empty());
}

/// The offset of the first gap of this size; nothing if there is none.
std::optional<std::size_t> send_buffer::find_gap(std::size_t bytes) const {
  std::vector<std::pair<std::size_t, std::size_t>> taken;  // begin, end
  for (const under_way& each : messages_) {
    taken.emplace_back(each.offset, each.offset + each.bytes);
  }
  std::sort(taken.begin(), taken.end());
  std::size_t begin = 0;
  for (const auto& [from, to] : taken) {
    if (from - begin >= bytes) break;
    begin = to;
  }
  if (begin + bytes > static_cast<std::size_t>(bytes_)) return std::nullopt;
  return begin;
}

/// Removes the messages that were sent.
void send_buffer::reap() {
  messages_.remove_if([](const under_way& each) { return each.wire.test(); });
}

int send_buffer::send(const datatypes::layout& layout, const message_call& call) {
  const base::lock_guard held(lock_);
  if (closed_) return fail(MPI_ERR_BUFFER, "the buffer is detached");
  reap();
  const auto bytes = static_cast<std::size_t>(layout.size() * call.count);
  const std::optional<std::size_t> offset = is_automatic() ? 0 : find_gap(bytes);
  if (!offset) {
    return fail(MPI_ERR_BUFFER, "the attached buffer of {} bytes has no room for {} more", bytes_,
                bytes);
  }
  under_way& message = messages_.emplace_back();
  message.home = this;
  message.offset = *offset;
  message.bytes = bytes;
  if (is_automatic()) message.own = std::make_unique_for_overwrite<std::byte[]>(bytes);
  message.serial = next_serial_++;
  std::byte* copy =
      is_automatic() ? message.own.get() : static_cast<std::byte*>(memory_) + message.offset;
  layout.pack(call.buffer, call.count, copy);
  message.wire.finish = &on_sent;
  message.wire.owner = &message;
  exchange().send(call.comm->messages(), message.wire, {copy, message.bytes}, call.peer, call.tag);
  return MPI_SUCCESS;
}

bool send_buffer::on_sent(messages::request& done) noexcept {
  auto& message = *static_cast<under_way*>(done.owner);
  send_buffer& home = *message.home;
  const base::lock_guard held(home.waiters_lock_);
  waiter* next = home.waiters_.front();
  while (next) {
    waiter& each = *next;
    next = home.waiters_.after(each);
    if (message.serial >= each.serial || --each.missing > 0) continue;
    home.waiters_.erase(each);
    each.done.complete();  // its owner may free it now
  }
  message.home = nullptr;
  return true;
}

void send_buffer::notify(waiter& by) noexcept {
  const base::lock_guard held(lock_);
  const base::lock_guard also(waiters_lock_);
  const auto missing = std::count_if(messages_.begin(), messages_.end(),
                                     [](const under_way& each) { return each.home != nullptr; });
  if (missing == 0) return by.done.complete();
  by.serial = next_serial_;
  by.missing = static_cast<std::size_t>(missing);
  waiters_.push_back(by);
}

void send_buffer::flush() noexcept {
  waiter self;
  notify(self);
  engine().wait(self.done);
  const base::lock_guard held(lock_);
  reap();
}

void send_buffer::close() noexcept {
  {
    const base::lock_guard held(lock_);
    closed_ = true;
  }
  flush();
}

buffer_place& process_buffer() noexcept { return attached().process; }

std::shared_ptr<send_buffer> buffer_for(const communicator& comm) {
  if (auto own = comm.buffer.get()) return own;
  if (comm.origin)
    if (auto of_session = comm.origin->buffer.get()) return of_session;
  return process_buffer().get();
}

std::shared_ptr<send_buffer> make_buffer(void* memory, std::int64_t bytes) {
  auto made = std::make_shared<send_buffer>(memory, bytes);
  auto& known = attached();
  const base::lock_guard held(known.lock);
  std::erase_if(known.all, [](const auto& each) { return each.expired(); });
  known.all.push_back(made);
  return made;
}

void flush_all_buffers() noexcept {
  auto& known = attached();
  std::vector<std::weak_ptr<send_buffer>> all;
  {
    const base::lock_guard held(known.lock);
    all = known.all;
  }
  for (const auto& each : all) {
    if (const auto alive = each.lock()) alive->flush();
  }
  known.process.detach();
}

}  // namespace headway::mpi
