#include "endpoints/service.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "endpoints/delivery/misuse.hpp"
#include "endpoints/parts.hpp"

namespace headway::endpoints {
namespace {

constexpr std::uint64_t farewell_ns = 10'000'000'000;  // for what is still to be sent

outcome answer(wrong what, const void* data) noexcept {
  return what == wrong::none ? outcome::ok : report_misuse(what, data);
}

}  // namespace

service::parts::parts(packets::peers& peers, progress::engine& own, service_options of,
                      settings wanted)
    : options(std::move(of)),
      chosen([&] {
        wanted.share = wanted.share && options.share;
        return wanted;
      }()),
      process_count(static_cast<std::uint32_t>(options.nodes.size())),
      engine(own),
      remotes(process_count),
      buffers({.process = options.process,
               .job = options.job,
               .bytes_max = chosen.memory_bytes,
               .checks = chosen.checks}),
      packets(peers, own, buffers, remotes, *this, chosen),
      inboxes(buffers, packets, *this, options.process, chosen),
      waiting(buffers, inboxes, own, chosen.window),
      bulk(buffers, packets, inboxes, waiting, remotes, chosen),
      regions(buffers, packets, remotes, options.process, options.nodes, chosen.share),
      directory(*this, own, options.process, process_count),
      out({buffers, packets, inboxes, bulk, regions}, remotes, options.process, chosen),
      in({buffers, packets, inboxes, waiting, bulk, regions, directory, *this}, remotes,
         chosen.window) {
  inboxes.endpoints().handlers().choose(chosen.dispatch);
}

service::parts::~parts() { inboxes.endpoints().handlers().stop(); }

void service::parts::lose(std::uint32_t process) noexcept {
  if (process >= process_count) return;  // of another job, which has no end-points here
  auto& n = remotes[process];
  if (n.lost.exchange(true, std::memory_order_relaxed)) return;  // one caller goes on
  directory.lost(process);
  n.zones.forget_there();
  n.endpoints.lose();
  buffers.reclaim(process);
}

void service::parts::deliver(std::uint32_t process, const name_head& head, std::string_view name) {
  if (process == options.process) return directory.arrived(process, head, name);
  name_head whole = head;
  whole.name_bytes = static_cast<std::uint16_t>(name.size());
  packets.tell(process, whole, std::as_bytes(std::span(name)));
}

bool service::parts::take_for_handler(local_endpoint& at, message& what, handler& by) noexcept {
  bulk.prepost_if_due();
  return inboxes.take_for_handler(at, what, by);
}

wrong service::last_wrong() noexcept { return last_misuse(); }

service::service(packets::peers& peers, progress::engine& engine, service_options options,
                 const settings& chosen) {
  HEADWAY_ASSERT(options.process < options.nodes.size());
  HEADWAY_ASSERT(chosen.window >= 8 && chosen.queue >= 2);
  parts_ = std::make_unique<parts>(peers, engine, std::move(options), chosen);
  peers.share(parts_->in);
}

service::~service() { stop(); }

void service::attach(messages::exchange& exchange) {
  parts_->bulk.attach(exchange, parts_->options.process);
}

std::uint32_t service::process() const noexcept { return parts_->options.process; }
std::uint32_t service::process_count() const noexcept { return parts_->process_count; }
std::size_t service::bytes_taken() noexcept { return parts_->buffers.bytes_taken(); }
std::size_t service::open_count() noexcept { return parts_->inboxes.endpoints().open_count(); }

outcome service::start_open(std::string_view name, question& q, std::uint32_t& id) {
  auto& s = *parts_;
  id = 0;
  if (s.out.stopped()) return outcome::not_joined;
  if (name.size() > name_bytes_max) return outcome::bad_argument;
  if (!s.buffers.open()) return outcome::no_memory;
  s.packets.start_use();
  id = s.inboxes.endpoints().open(name);
  if (id == 0) return outcome::no_memory;
  if (name.empty()) q.complete();
  else s.directory.start_claim(q, name, id);
  return outcome::ok;
}

outcome service::open(std::string_view name, std::uint64_t deadline_ns, std::uint32_t& id) {
  auto& s = *parts_;
  question q;
  auto how = start_open(name, q, id);
  if (how != outcome::ok) return how;
  how = s.directory.wait(q, deadline_ns);
  if (how == outcome::ok) return how;
  s.inboxes.endpoints().drop_name(id);  // another end-point may have it
  close(std::exchange(id, 0u));
  return how;
}

outcome service::close(std::uint32_t id) noexcept {
  auto& s = *parts_;
  local_endpoints::closed left;
  if (const auto how = s.inboxes.endpoints().close(id, left); how != outcome::ok) return how;
  for (parcel* p : left.unread) s.inboxes.drop(*p);
  for (const auto& one : left.senders)
    s.packets.tell(one.process, message_head{.kind = wire_kind::gone, .to = id});
  if (!left.name.empty()) s.directory.give_up(left.name, id);
  return outcome::ok;
}

outcome service::lookup(std::string_view name, std::uint64_t deadline_ns, address& who) {
  auto& s = *parts_;
  if (name.empty() || name.size() > name_bytes_max) return outcome::bad_argument;
  if (s.out.stopped()) return outcome::not_joined;
  s.packets.start_use();
  return s.directory.find(name, deadline_ns, who);
}

outcome service::start_lookup(std::string_view name, question& q) {
  auto& s = *parts_;
  if (name.empty() || name.size() > name_bytes_max) return outcome::bad_argument;
  if (s.out.stopped()) return outcome::not_joined;
  s.packets.start_use();
  s.directory.start_find(q, name, true);
  return outcome::ok;
}

bool service::cancel(question& q) { return parts_->directory.cancel(q); }

outcome service::send_any(const sending& what, std::uint64_t deadline_ns) noexcept {
  return parts_->out.send(what, deadline_ns);
}

outcome service::wait_any(std::span<const std::uint32_t> ids, std::uint64_t deadline_ns,
                          std::size_t& which) {
  return parts_->inboxes.wait_any(ids, deadline_ns, which);
}

outcome service::descriptor(std::uint32_t id, int& descriptor) noexcept {
  return parts_->inboxes.endpoints().descriptor(id, descriptor);
}

outcome service::handle(std::uint32_t id, const handler& by) {
  return parts_->inboxes.endpoints().handle(id, by);
}

std::size_t service::dispatch(unsigned rounds) noexcept {
  return parts_->inboxes.endpoints().handlers().help(rounds);
}

void service::set_dispatch(int how) {
  HEADWAY_ASSERT(how >= 0 && how <= static_cast<int>(policy::event));
  parts_->inboxes.endpoints().handlers().choose(static_cast<policy>(how));
}

outcome service::request(std::size_t bytes, void** data) noexcept {
  block* b = parts_->buffers.request(bytes);
  if (!b) return outcome::no_memory;
  *data = b->data();
  return outcome::ok;
}

outcome service::capacity(const void* data, std::size_t& bytes) noexcept {
  const auto f = parts_->buffers.find(data);
  if (f.trouble != wrong::none) return report_misuse(f.trouble, data);
  if (f.header->state.load(std::memory_order_relaxed) == block::free_state)  // a check
    return report_misuse(wrong::released, data);
  bytes = f.header->capacity();
  return outcome::ok;
}

outcome service::release(void* data) noexcept {
  return data ? answer(parts_->buffers.release(data), data) : outcome::ok;
}

outcome service::release_later(void* data) noexcept {
  return data ? answer(parts_->buffers.release_later(data), data) : outcome::ok;
}

outcome service::probe(const void* data, bool& idle) noexcept {
  return answer(parts_->buffers.probe(data, idle), data);
}

void service::stop() noexcept {
  auto& s = *parts_;
  if (!s.out.stop()) return;
  s.bulk.stop();
  s.directory.stop();
  s.inboxes.endpoints().handlers().stop();
  for (const auto id : s.inboxes.endpoints().open_ids()) {
    s.inboxes.endpoints().drop_name(id);  // all names of this process end with it
    close(id);
  }
  s.waiting.stop();
  const auto deadline = s.engine.clock().now_ns() + farewell_ns;
  while (s.bulk.has_sends() && s.engine.clock().now_ns() < deadline) s.engine.poll();
  s.packets.stop_packing();
  // After everything that was sent to the process, in order.
  std::vector<std::unique_ptr<progress::completion>> told;
  s.remotes.each([&](std::uint32_t p, const remote_process& n) {
    if (p == s.options.process || n.lost.load(std::memory_order_relaxed) ||  // a fact
        !n.met.load(std::memory_order_acquire))                              // (E)
      return;
    told.push_back(std::make_unique<progress::completion>());
    s.packets.take_leave(p, s.options.process, *told.back());
  });
  for (auto& one : told)
    if (!s.engine.wait_until(*one, deadline)) s.unread.push_back(std::move(one));
  s.packets.end_use();
  s.bulk.detach();
}

}  // namespace headway::endpoints
