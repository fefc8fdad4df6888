#include "windows/target.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "base/lock_guard.hpp"
#include "base/log.hpp"
#include "windows/update.hpp"

namespace headway::windows {

/// In `unfinished_` as long as it lives.
struct target::unfinished : base::list_hook<unfinished> {
  unfinished(target& by, int other, bool (*at_end)(messages::request&) noexcept) noexcept
      : of(by), source(other) {
    wire.owner = this;
    wire.finish = at_end;
    const base::lock_guard held(of.lock_);
    of.unfinished_.push_back(*this);
  }
  virtual ~unfinished() = default;
  unfinished(const unfinished&) = delete;
  unfinished& operator=(const unfinished&) = delete;

  target& of;
  const int source;
  messages::request wire;
};

struct target::answer final : unfinished, base::list_hook<> {
  answer(target& by, int to, int under) noexcept
      : unfinished(by, to,
                   [](messages::request& r) noexcept {
                     end(*static_cast<unfinished*>(r.owner));
                     return false;
                   }),
        tag(under) {}

  const int tag;
  lock_type lock = lock_type::shared;            // that it grants
  std::optional<std::vector<std::byte>> behind;  // requests that are served then; it is not sent
  status how = status::ok;                       // what it says, of a flush
  std::unique_ptr<std::byte[]> bytes;
};

struct target::large_put final : unfinished {
  large_put(target& by, int from) noexcept
      : unfinished(by, from, [](messages::request& r) noexcept {
          auto& self = *static_cast<unfinished*>(r.owner);
          const bool well = r.arrived.how == messages::outcome::ok;
          self.of.end_large_put(self.source, well ? status::ok : status::out_of_range);
          end(self);
          return false;
        }) {}
};

target::target(messages::exchange& exchange, messages::context& context, exposed_memory& memory,
               const own_line& own, statistics::row& served)
    : exchange_(exchange),
      context_(context),
      memory_(memory),
      line_(own.line),
      me_(own.me),
      served_(served),
      granted_(static_cast<std::size_t>(context.members->size())),
      ends_(exchange.engine(), static_cast<std::size_t>(context.members->size())),
      origins_(static_cast<std::size_t>(context.members->size())) {
  HEADWAY_ASSERT(context.collective && me_ != lock_holder::none);
  incoming_.owner = this;
  incoming_.finish = &target::on_request;
}

/// If `stop` was not called, there may be messages whose exchange ended before they did.
target::~target() {
  base::intrusive_list<unfinished, unfinished> left;
  {
    const base::lock_guard held(lock_);
    left.append(unfinished_);
  }
  while (auto* const each = left.pop_front()) delete each;
}

void target::start() noexcept { receive_next(); }

void target::receive_next() noexcept {
  place_.clear();
  exchange_.receive(context_, incoming_, place_, messages::any_source,
                    messages::window_request_tag);
}

void target::stop() noexcept {
  // Another thread may be about to post the receive once more.
  for (base::backoff a_little; !stopped_.load(std::memory_order_acquire); a_little.wait())  // (S)
    exchange_.cancel(incoming_);
  // Only an origin whose wait has ended with an error still queues here: a process of the window is
  // lost, which this process may not have noticed yet.
  while (answer* const each = lock_queue_.pop_front()) end(*each);
  for (base::backoff a_little; has_unfinished(); a_little.wait()) exchange_.engine().poll();
}

bool target::has_unfinished() noexcept {
  const base::lock_guard held(lock_);
  return !unfinished_.empty();
}

void target::end(unfinished& over) noexcept {
  {
    const base::lock_guard held(over.of.lock_);
    over.of.unfinished_.erase(over);
  }
  delete &over;  // the target may be gone
}

std::span<const std::byte> target::arrival_place::pack(std::uint64_t, std::size_t) noexcept {
  HEADWAY_ASSERT(false);  // nothing is sent from here
  return {};
}

void target::arrival_place::unpack(std::uint64_t begin, std::span<const std::byte> from) noexcept {
  std::memcpy(copy_.get() + begin, from.data(), from.size());
}

void target::arrival_place::unpack_whole(std::span<const std::byte> message) noexcept {
  if (lies_aligned(message)) whole_ = message;
  else unpack(0, message);
}

void target::arrival_place::keep() noexcept {
  if (!whole_.empty()) unpack(0, std::exchange(whole_, {}));
}

// A request may arrive inside the call that posts its receive, or in another thread before that
// call has returned; it is then served by the loop that made this call.
bool target::take_turn() noexcept {
  int none = 0;
  if (turns_.compare_exchange_strong(none, 1, std::memory_order_acq_rel,  // (T)
                                     std::memory_order_relaxed))
    return true;
  place_.keep();
  return turns_.fetch_add(1, std::memory_order_acq_rel) == 0;  // (T)
}

bool target::on_request(messages::request& r) noexcept {
  auto& self = *static_cast<target*>(r.owner);
  if (!self.take_turn()) return false;
  do {
    const auto& arrived = self.incoming_.arrived;
    const bool came =
        arrived.how == messages::outcome::ok || arrived.how == messages::outcome::truncated;
    const bool broke_off =
        arrived.how == messages::outcome::peer_lost && arrived.source != messages::any_source;
    if (!came && !broke_off) {
      self.ends_.lose();
      self.stopped_.store(true, std::memory_order_release);  // (S); `self` may be gone
      return false;
    }
    // A message that broke off is none, but behind it others may be waiting, whose senders wait.
    if (came) self.serve(arrived.source, self.place_.message(arrived.bytes));
    self.receive_next();
  } while (self.turns_.fetch_sub(1, std::memory_order_acq_rel) != 1);  // (T)
  return false;
}

void target::serve(int source, std::span<const std::byte> message) noexcept {
  if (source >= context_.members->size())  // a rank in a message is not checked before
    return base::log(base::severity::error, "a request to a window names rank {} of {}", source,
                     context_.members->size());
  while (!message.empty()) {
    const auto request = take_request(message);
    const auto elements = request ? elements_of(*request) : std::nullopt;
    if (!elements) {
      return base::log(base::severity::error,
                       "rank {} of a window sent a request that makes no sense", source);
    }
    if (request->head.what == action::lock_rest) {
      if (!lock_now(source, request->head.lock, message)) return;
      continue;
    }
    serve(source, *request, *elements);
  }
}

void target::serve(int source, const request_view& request, std::int64_t elements) noexcept {
  if (!inside(request)) return refuse(source, request);
  exposed_memory::exposures.returns();
  count(request, elements);
  switch (request.head.what) {
    case action::put:
      return put(request);
    case action::put_message:
      return put_large(source, request);
    case action::get:
      return get(source, request, elements);
    case action::accumulate:
    case action::fetch:
      return accumulate(source, request, elements);
    case action::compare_and_swap:
      return compare_and_swap(source, request);
    case action::flush:
      return flush(source, request);
    case action::lock:
      return lock(source, request);
    case action::unlock:
      return unlock(source, request);
    case action::released:
      return grant_locks();
    case action::look:  // this thread is awake, and stays so
      if (slots_ != nullptr) slots_->expect();
      return;
    case action::complete:
      return end_accesses(source);
    case action::lock_rest:  // needs the rest of its message
      return;
  }
}

void target::count(const request_view& request, std::int64_t elements) noexcept {
  statistics::count statistics::row::* kind = nullptr;
  switch (request.head.what) {
    case action::put:
    case action::put_message:
      kind = &statistics::row::puts;
      break;
    case action::get:
      kind = &statistics::row::gets;
      break;
    case action::accumulate:
      kind = &statistics::row::accumulates;
      break;
    case action::fetch:
    case action::compare_and_swap:
      kind = &statistics::row::fetches;
      break;
    case action::flush:
    case action::lock:
    case action::unlock:
    case action::released:
    case action::look:
    case action::lock_rest:
    case action::complete:
      return;
  }
  const auto size = datatypes::layout::of(request.head.kind).size();
  count_operation(served_, kind, elements * size, counting::shared);  // other windows count too
}

bool target::inside(const request_view& request) noexcept {
  const auto& one = datatypes::layout::of(request.head.kind);
  for (const auto& run : request.runs) {
    if (run.count == 0) continue;
    const auto bytes = (run.count - 1) * one.extent() + one.true_extent();
    if (memory_.at(run.offset, bytes) == nullptr) return false;
  }
  return true;
}

void target::refuse(int source, const request_view& request) noexcept {
  switch (request.head.what) {
    case action::get:
    case action::fetch:
    case action::compare_and_swap:
      return send(*new answer(*this, source, request.head.tag), {});
    case action::put_message: {  // its bytes are received, and thrown away
      {
        const base::lock_guard held(lock_);
        ++origins_[static_cast<std::size_t>(source)].large_puts;
      }
      auto* const thrown_away = new large_put(*this, source);  // cut: it ends as `out_of_range`
      return exchange_.receive(context_, thrown_away->wire, {}, source, request.head.tag);
    }
    default:
      return note(source, status::out_of_range);
  }
}

// ---- memory -------------------------------------------------------------------------------------

void target::put(const request_view& request) noexcept {
  const std::byte* from = request.payload.data();
  for (const auto& run : request.runs) {
    if (run.count == 0) continue;
    std::memcpy(memory_.at(run.offset, run.count), from, static_cast<std::size_t>(run.count));
    from += run.count;
  }
}

void target::put_large(int source, const request_view& request) noexcept {
  const auto& run = request.runs.front();
  {
    const base::lock_guard held(lock_);
    ++origins_[static_cast<std::size_t>(source)].large_puts;
  }
  auto* const put = new large_put(*this, source);
  exchange_.receive(context_, put->wire,
                    {memory_.at(run.offset, run.count), static_cast<std::size_t>(run.count)},
                    source, request.head.tag);
}

void target::get(int source, const request_view& request, std::int64_t elements) noexcept {
  const auto bytes = static_cast<std::size_t>(elements);
  if (request.runs.size() == 1) {
    return send(*new answer(*this, source, request.head.tag),
                {memory_.at(request.runs[0].offset, elements), bytes});
  }
  auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
  std::byte* to = copy.get();
  for (const auto& run : request.runs) {
    const auto length = static_cast<std::size_t>(run.count);
    if (length != 0) std::memcpy(to, memory_.at(run.offset, run.count), length);
    to += length;
  }
  send_bytes(source, request, std::move(copy), bytes);
}

void target::accumulate(int source, const request_view& request, std::int64_t elements) noexcept {
  const bool fetches = request.head.what == action::fetch;
  const auto how = update::of({request.head.op, request.head.kind});
  if (!how) {  // the origin has checked it
    return base::log(base::severity::error,
                     "rank {} of a window sent an operator that its type does not have", source);
  }
  std::unique_ptr<std::byte[]> values;
  const auto bytes = static_cast<std::size_t>(elements * how->extent());
  if (fetches) values = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const std::byte* operand = request.payload.empty() ? nullptr : request.payload.data();
  std::byte* before = values.get();
  // No answer: a process of the window is gone, which ends what the origin waits for.
  if (!line_.changing.lock(me_)) return;
  {
    const base::lock_guard held(line_.changing, std::adopt_lock);
    for (const auto& run : request.runs) {
      if (run.count == 0) continue;
      how->apply(memory_.at(run.offset, 0), run.count, operand, before);
      if (operand) operand += run.count * how->extent();
      if (before) before += run.count * how->extent();
    }
  }
  if (fetches) send_bytes(source, request, std::move(values), bytes);
}

void target::compare_and_swap(int source, const request_view& request) noexcept {
  const auto bytes = request.payload.size() / 2;
  auto before = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const auto at = std::ranges::find(request.runs, 1, &element_run::count);
  if (!line_.changing.lock(me_)) return;  // as above
  {
    const base::lock_guard held(line_.changing, std::adopt_lock);
    windows::compare_and_swap(memory_.at(at->offset, 0), bytes, request.payload.data(),
                              request.payload.data() + bytes, before.get());
  }
  send_bytes(source, request, std::move(before), bytes);
}

// ---- synchronisation ----------------------------------------------------------------------------

void target::note(int source, status how) noexcept {
  const base::lock_guard held(lock_);
  auto& worst = origins_[static_cast<std::size_t>(source)].worst;
  worst = std::max(worst, how);
}

status target::take_status(int source) noexcept {
  const base::lock_guard held(lock_);
  return std::exchange(origins_[static_cast<std::size_t>(source)].worst, status::ok);
}

void target::flush(int source, const request_view& request) noexcept {
  auto* const made = new answer(*this, source, request.head.tag);
  {
    const base::lock_guard held(lock_);
    if (origins_[static_cast<std::size_t>(source)].large_puts != 0) {
      waiting_flushes_.push_back(*made);
      return;
    }
  }
  send(*made);
}

void target::end_large_put(int source, status how) noexcept {
  base::intrusive_list<answer> over;
  std::uint32_t ends = 0;
  {
    const base::lock_guard held(lock_);
    origin& o = origins_[static_cast<std::size_t>(source)];
    o.worst = std::max(o.worst, how);
    HEADWAY_DEBUG_ASSERT(o.large_puts > 0);
    if (--o.large_puts != 0) return;
    ends = std::exchange(o.ends, 0);
    for (answer* each = waiting_flushes_.front(); each != nullptr;) {
      answer* const next = waiting_flushes_.after(*each);
      if (each->source == source) {
        waiting_flushes_.erase(*each);
        over.push_back(*each);
      }
      each = next;
    }
  }
  for (; ends != 0; --ends) ends_.came(source);
  while (answer* const each = over.pop_front()) send(*each);
}

void target::end_accesses(int source) noexcept {
  {
    const base::lock_guard held(lock_);
    origin& o = origins_[static_cast<std::size_t>(source)];
    if (o.large_puts != 0) {
      ++o.ends;
      return;
    }
  }
  ends_.came(source);
}

void target::lock(int source, const request_view& request) noexcept {
  queue_for_lock(*new answer(*this, source, request.head.tag), request.head.lock);
}

bool target::lock_now(int source, lock_type how, std::span<const std::byte> rest) noexcept {
  if (lock_queue_.empty() && line_.lock.grant(how)) {
    ++granted_[static_cast<std::size_t>(source)].of(how);
    return true;
  }
  auto* const made = new answer(*this, source, 0);
  made->behind.emplace(rest.begin(), rest.end());
  queue_for_lock(*made, how);
  return false;
}

void target::queue_for_lock(answer& made, lock_type how) noexcept {
  made.lock = how;
  if (lock_queue_.empty()) line_.lock.begin_queue();
  lock_queue_.push_back(made);
  grant_locks();
}

void target::unlock(int source, const request_view& request) noexcept {
  auto& holds = granted_[static_cast<std::size_t>(source)].of(request.head.lock);
  if (holds == 0) {
    return base::log(base::severity::error,
                     "rank {} of a window released a lock that it does not hold", source);
  }
  --holds;
  static_cast<void>(line_.lock.unlock(request.head.lock));  // the queue is looked at below
  grant_locks();
  send(*new answer(*this, source, request.head.tag));
}

void target::grant_locks() noexcept {
  if (granting_) return;  // requests that it serves have released a lock: the loop goes on
  granting_ = true;
  while (!lock_queue_.empty() && line_.lock.grant(lock_queue_.front()->lock)) grant_to_first();
  granting_ = false;
}

void target::grant_to_first() noexcept {
  answer& first = *lock_queue_.pop_front();
  ++granted_[static_cast<std::size_t>(first.source)].of(first.lock);
  if (lock_queue_.empty()) line_.lock.end_queue();
  if (!first.behind) return send(first);
  serve(first.source, *first.behind);
  end(first);
}

// ---- answers ------------------------------------------------------------------------------------

void target::send(answer& ready) noexcept {
  ready.how = take_status(ready.source);
  send(ready, std::as_bytes(std::span(&ready.how, 1)));
}

void target::send_bytes(int source, const request_view& request,
                        std::unique_ptr<std::byte[]> values, std::size_t bytes) noexcept {
  auto* const made = new answer(*this, source, request.head.tag);
  made->bytes = std::move(values);
  send(*made, {made->bytes.get(), bytes});
}

void target::send(answer& ready, std::span<const std::byte> bytes) noexcept {
  exposed_memory::changes.leaves();
  exchange_.send(context_, ready.wire, bytes, ready.source, ready.tag);
}

}  // namespace headway::windows
