#include "rails/shm/memory_access.hpp"

#include <atomic>

#include "base/assert.hpp"
#include "rails/shm/host.hpp"

namespace headway::rails::shm {
namespace {

[[maybe_unused]] bool inside(const remote_place& at, std::size_t bytes) noexcept {
  return at.offset <= at.exposed.bytes && bytes <= at.exposed.bytes - at.offset;
}

/// Copies between this process and one whose memory may be read and written: in the way that is
/// faster for so many bytes, or else in the other. False: not all was copied, or the process has
/// ended.
template <class ByFile, class ByCall>
bool copy(send_channel& whose, std::size_t bytes, ByFile by_file, ByCall by_call) noexcept {
  attachment& segment = *whose.attached();
  const auto in_file = [&] {
    const int file = segment.memory_file();
    return file >= 0 && by_file(file);
  };
  const auto in_call = [&] { return segment.process_runs() && by_call(whose.readable_pid()); };
  return bytes <= file_bytes_max ? in_file() || in_call() : in_call() || in_file();
}

bool read(send_channel& whose, std::uint64_t from, std::span<std::byte> to) noexcept {
  return copy(
      whose, to.size(), [&](int file) { return read_by_file(file, from, to); },
      [&](pid_t process) { return read_remote(process, from, to); });
}

bool write(send_channel& whose, std::uint64_t to, std::span<const std::byte> from) noexcept {
  return copy(
      whose, from.size(), [&](int file) { return write_by_file(file, to, from); },
      [&](pid_t process) { return write_remote(process, to, from); });
}

rails::sooner_by sooner(large_way chosen) noexcept {
  switch (chosen) {
    case large_way::automatic:
      return rails::sooner_by::measured;
    case large_way::get:
      return rails::sooner_by::get;
    case large_way::ring:
    case large_way::kernel:
      return rails::sooner_by::put;
  }
  return rails::sooner_by::put;
}

}  // namespace

memory_limits memory_access::limits_to(peer_id peer) const noexcept {
  const send_channel* way = links_->find(peer);
  const bool known = way != nullptr && way->attached() != nullptr;
  const bool direct = known && way->is_direct();
  return {.put = known,
          .get = known,
          .atomic = known,
          .flush = known,
          .notifies = true,
          .direct = direct,
          .large = direct ? sooner(large_) : rails::sooner_by::put};
}

copy_costs memory_access::costs_with(peer_id peer) const noexcept {
  send_channel* way = links_->find(peer);
  return way ? way->figures().all() : copy_costs{};
}

base::result<ticket> memory_access::expose(const exposure& what) noexcept {
  return exposed_.expose(what);
}

void memory_access::withdraw(const ticket& exposed) noexcept {
  const auto holders = exposed_.remove(exposed.id);
  if (from_) from_->take_back_targets(holders);
}

post memory_access::put(peer_id peer, const remote_place& to, std::span<const std::byte> from,
                        std::uint64_t cookie) noexcept {
  HEADWAY_DEBUG_ASSERT(inside(to, from.size()));
  send_channel* way = links_->find(peer);
  if (!way) return post::down;
  if (from.empty()) return post::done;
  const bool direct = !exposures::notified(to.exposed.id) && way->is_direct();
  if (!direct) return way->put(to, from, cookie);
  return write(*way, to.exposed.address + to.offset, from) ? post::done : post::down;
}

post memory_access::get(peer_id peer, const remote_place& from, std::span<std::byte> to,
                        std::uint64_t cookie) noexcept {
  HEADWAY_DEBUG_ASSERT(inside(from, to.size()));
  send_channel* way = links_->find(peer);
  if (!way) return post::down;
  if (!way->is_direct()) return way->get(from, to, cookie);
  const bool whole =
      way->figures().gets.run(to.size(), to.size() >= copy_figures::timed_get_min,
                              [&] { return read(*way, from.exposed.address + from.offset, to); });
  // A process sets its doorbell to closed before it reuses its memory. The fence orders the copy
  // before the load of the doorbell.
  std::atomic_thread_fence(std::memory_order_acquire);
  return whole && !way->peer_has_closed() ? post::done : post::down;
}

post memory_access::atomic(peer_id peer, const remote_place& at, const atomic_request& what,
                           std::uint64_t& before, std::uint64_t cookie) noexcept {
  HEADWAY_DEBUG_ASSERT(inside(at, sizeof before));
  send_channel* way = links_->find(peer);
  return way ? way->atomic(at, what, &before, cookie) : post::down;
}

/// Direct copies are complete. Those through the channel are when the peer has answered an atomic
/// behind them, and has emptied the buffers.
post memory_access::flush(peer_id peer, std::uint64_t cookie) noexcept {
  send_channel* way = links_->find(peer);
  return way ? way->atomic({.exposed = {.id = exposures::never}}, {}, nullptr, cookie) : post::down;
}

}  // namespace headway::rails::shm
