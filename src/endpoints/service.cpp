#include "endpoints/service.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "endpoints/parts.hpp"
#include "endpoints/tunables.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint64_t farewell_ns = 10'000'000'000;  // for what is still on its way
constexpr std::uint32_t bulk_context_id = 6;           // mpi::context_id_endpoints: two for each

thread_local constinit wrong last_mistake = wrong::none;

bool take_for_handler(service_parts& of, local_endpoint& at, message& out, handler& by) noexcept {
  parcel* p = nullptr;
  std::uint32_t due = 0, id = 0;
  if (of.room_due.load(std::memory_order_relaxed) != service_parts::nobody)  // a hint
    of.open_room_that_is_due();
  {
    woken then;
    const std::scoped_lock first(at.box.taking);
    if (at.by.call) p = of.take_aside(at.box, {}, then, due);
    if (!p) {
      const std::scoped_lock guard(at.box.lock);
      if (at.by.call) p = of.take(at.box, {}, then, due);
      if (!p) {
        at.runnable = false;
        return false;
      }
    }
    id = at.box.taking_id;
    by = at.by;
  }
  of.give_credit(id, p->from.process, due);
  static_cast<void>(of.finish(*p, out));
  return true;
}

}  // namespace

service_parts::service_parts(packets::peers& all, progress::engine& own, service_options chosen)
    : peers(all),
      engine(own),
      options(std::move(chosen)),
      self(options.process),
      process_count(static_cast<std::uint32_t>(all.size())),
      window_units(static_cast<std::uint32_t>(window.get())),
      queue_units(static_cast<std::uint32_t>(queue_max.get())),
      inline_max(static_cast<std::size_t>(inline_bytes.get())),
      share(options.share && sharing.index() == 0),
      rooms_each_max(static_cast<std::uint64_t>(ahead_bytes.get())),
      rooms_bytes_max(memory_bytes.get() / 16),
      neighbours(std::make_unique<neighbour[]>(all.size())),
      directory_of_names(*this, own, self, static_cast<std::uint32_t>(all.size())),
      dispatch(*this, own, &take_for_handler) {
  dispatch.choose(static_cast<policy>(endpoints::dispatch.index()));
}

service_parts::~service_parts() {
  dispatch.stop();
  forget_transfers();
}

pool* service_parts::make_pool() noexcept {
  const std::scoped_lock held(pool_making);
  if (pool_made) return pool_made.get();
  auto made = pool::make({.process = self,
                          .job = options.job,
                          .bytes_max = static_cast<std::size_t>(memory_bytes.get()),
                          .checks = checks.index() == 1});
  if (!made) {
    base::log(base::severity::error, "end-points have no buffers: {}", made.error().text);
    return nullptr;
  }
  pool_made = std::move(*made);
  pool_seen.store(pool_made.get(), std::memory_order_release);  // (B)
  return pool_made.get();
}

void service_parts::wake_up() noexcept {
  if (!awake.load(std::memory_order_relaxed) && !awake.exchange(true, std::memory_order_relaxed))
    engine.pending_started();  // an open end-point is an open receive
}

outcome service_parts::mistake(wrong what, const void* data) noexcept {
  last_mistake = what;
  base::log(base::severity::warning, "buffer {}: {}", data, text_of(what));
  return outcome::misuse;
}

wrong service::last_wrong() noexcept { return last_mistake; }

service::service(packets::peers& peers, progress::engine& engine, service_options options)
    : parts_(std::make_unique<service_parts>(peers, engine, std::move(options))) {
  peers.share(*parts_);
}

service::~service() { stop(); }

void service::attach(messages::exchange& exchange) {
  std::vector<std::uint32_t> everyone(parts_->peers.size());
  for (std::uint32_t i = 0; i < everyone.size(); ++i) everyone[i] = i;
  parts_->bulk_context.store(
      exchange.open_context(bulk_context_id, static_cast<int>(parts_->self), std::move(everyone)),
      std::memory_order_relaxed);                                // carried by the next
  parts_->exchange.store(&exchange, std::memory_order_release);  // (X) pairs with its loads
  parts_->learn_rails(static_cast<std::size_t>(pack_bytes.get()));
}

std::uint32_t service::process() const noexcept { return parts_->self; }
std::uint32_t service::process_count() const noexcept {
  return static_cast<std::uint32_t>(parts_->peers.size());
}
std::size_t service::bytes_taken() noexcept {
  pool* p = parts_->buffers();
  return p ? p->bytes_taken() : 0;
}
std::size_t service::open_count() noexcept {
  return parts_->open_count.load(std::memory_order_relaxed);  // a number to show
}

outcome service::open(std::string_view name, std::uint64_t deadline_ns, std::uint32_t& id) {
  auto& s = *parts_;
  if (s.stopped.load(std::memory_order_relaxed)) return outcome::not_joined;
  if (name.size() > name_bytes_max) return outcome::bad_argument;
  if (!s.buffers()) return outcome::no_memory;
  s.wake_up();
  id = s.numbers.take();
  if (id == 0) return outcome::no_memory;
  auto& e = s.locals.at(slot_of(id));
  {
    const std::scoped_lock first(e.box.taking);
    const std::scoped_lock guard(e.box.lock);
    e.box.open(id);
    e.box.name = name;
  }
  s.open_count.fetch_add(1, std::memory_order_relaxed);  // a number to show
  s.dispatch.opened();
  if (name.empty()) return outcome::ok;
  const auto how = s.directory_of_names.claim(name, id, deadline_ns);
  if (how == outcome::ok) return how;
  {
    const std::scoped_lock guard(e.box.lock);
    e.box.name.clear();  // not ours to give up
  }
  close(id);
  id = 0;
  return how;
}

outcome service::close(std::uint32_t id) noexcept {
  auto& s = *parts_;
  local_endpoint* e = s.local(id);
  if (!e) return outcome::gone;
  std::string name;
  std::vector<inbox::debt> senders;
  std::vector<parcel*> left;
  int descriptor = -1;
  {
    woken then;
    const std::scoped_lock first(e->box.taking);
    const std::scoped_lock guard(e->box.lock);
    if (e->box.id != id) return outcome::gone;
    name = std::move(e->box.name);
    e->box.name.clear();
    senders = e->box.owed;
    descriptor = e->box.take_descriptor();
    e->by = {};
    while (parcel* p = e->box.pop())
      if (p->ready) left.push_back(p);  // others end with their bytes
    e->box.close(then);
  }
  if (descriptor >= 0) ::close(descriptor);
  for (parcel* p : left) s.drop(*p);
  for (const auto& one : senders)
    s.tell(one.process, message_head{.kind = wire_kind::gone, .to = id});
  if (!name.empty()) s.directory_of_names.give_up(name, id);
  s.open_count.fetch_sub(1, std::memory_order_relaxed);  // a number to show
  s.dispatch.closed();
  s.numbers.give_back(id);
  return outcome::ok;
}

outcome service::lookup(std::string_view name, std::uint64_t deadline_ns, address& who) {
  auto& s = *parts_;
  if (name.empty() || name.size() > name_bytes_max) return outcome::bad_argument;
  if (s.stopped.load(std::memory_order_relaxed)) return outcome::not_joined;
  s.wake_up();
  return s.directory_of_names.find(name, deadline_ns, who);
}

outcome service::descriptor(std::uint32_t id, int& descriptor) noexcept {
  local_endpoint* e = parts_->local(id);
  if (!e) return outcome::gone;
  const std::scoped_lock first(e->box.taking);
  const std::scoped_lock guard(e->box.lock);
  if (e->box.id != id) return outcome::gone;
  if (e->box.descriptor() < 0) e->box.open_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  descriptor = e->box.descriptor();
  return descriptor >= 0 ? outcome::ok : outcome::no_memory;
}

outcome service::handle(std::uint32_t id, const handler& by) {
  auto& s = *parts_;
  local_endpoint* e = s.local(id);
  if (!e) return outcome::gone;
  if (by.call) s.dispatch.need_thread();
  {
    const std::scoped_lock first(e->box.taking);
    const std::scoped_lock guard(e->box.lock);
    if (e->box.id != id) return outcome::gone;
    e->by = by;
    if (!by.call || e->runnable || !e->box.any()) return outcome::ok;
    e->runnable = true;
  }
  s.dispatch.ready(*e);
  return outcome::ok;
}

std::size_t service::dispatch(unsigned rounds) noexcept { return parts_->dispatch.help(rounds); }

void service::set_dispatch(int how) { parts_->dispatch.choose(static_cast<policy>(how)); }

outcome service::request(std::size_t bytes, void** data) noexcept {
  pool* buffers = parts_->buffers();
  block* b = buffers ? buffers->request(bytes) : nullptr;
  if (!b) return outcome::no_memory;
  *data = b->data();
  return outcome::ok;
}

outcome service::capacity(const void* data, std::size_t& bytes) noexcept {
  pool* buffers = parts_->buffers();
  if (!buffers) return outcome::no_memory;
  const auto f = buffers->find(data);
  if (f.trouble != wrong::none) return parts_->mistake(f.trouble, data);
  if (f.header->state.load(std::memory_order_relaxed) == block::free_state)  // a check
    return parts_->mistake(wrong::released, data);
  bytes = f.header->capacity();
  return outcome::ok;
}

outcome service::release(void* data) noexcept {
  if (!data) return outcome::ok;
  pool* buffers = parts_->buffers();
  if (!buffers) return outcome::no_memory;
  const auto what = buffers->release(data);
  return what == wrong::none ? outcome::ok : parts_->mistake(what, data);
}

outcome service::release_later(void* data) noexcept {
  if (!data) return outcome::ok;
  pool* buffers = parts_->buffers();
  if (!buffers) return outcome::no_memory;
  const auto what = buffers->release_later(data);
  return what == wrong::none ? outcome::ok : parts_->mistake(what, data);
}

outcome service::probe(const void* data, bool& idle) noexcept {
  pool* buffers = parts_->buffers();
  if (!buffers) return outcome::no_memory;
  const auto what = buffers->probe(data, idle);
  return what == wrong::none ? outcome::ok : parts_->mistake(what, data);
}

void service::stop() noexcept {
  auto& s = *parts_;
  if (s.stopped.exchange(true, std::memory_order_relaxed)) return;  // one caller goes on
  s.directory_of_names.stop();
  s.dispatch.stop();
  for (std::uint32_t slot = 0; slot < slots_max; ++slot) {
    local_endpoint* e = s.locals.find(slot);
    if (!e) break;
    std::uint32_t id = 0;
    {
      const std::scoped_lock guard(e->box.lock);
      id = e->box.id;
      e->box.name.clear();  // all of our names go with us
    }
    if (id != 0) close(id);
  }
  const auto deadline = base::now_ns() + farewell_ns;
  while (s.bulk_sends.load(std::memory_order_relaxed) > 0 && base::now_ns() < deadline)
    s.engine.poll();
  s.end_packing();
  // Behind everything that was sent to a process, in its stream.
  std::vector<std::unique_ptr<progress::completion>> told;
  for (std::uint32_t p = 0; p < s.peers.size(); ++p) {
    auto& n = s.neighbours[p];
    if (p == s.self || n.lost.load(std::memory_order_relaxed) ||
        !n.acquainted.load(std::memory_order_relaxed))  // facts, see neighbour
      continue;
    told.push_back(std::make_unique<progress::completion>());
    s.take_leave(p, *told.back());
  }
  for (auto& one : told)
    if (!s.engine.wait_until(*one, deadline)) static_cast<void>(one.release());  // still in use
  if (s.awake.load(std::memory_order_relaxed)) s.engine.pending_ended();
  auto* way = s.exchange.load(std::memory_order_acquire);  // (X)
  if (!way) return;
  const auto closed = s.close_rooms(*way);
  s.exchange.store(nullptr, std::memory_order_relaxed);                // nothing is behind it
  way->close_context(s.bulk_context.load(std::memory_order_relaxed));  // carried by (X)
  for (auto* r : closed) s.free_room(r);
}

}  // namespace headway::endpoints
