#include "endpoints/delivery/local_endpoints.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace headway::endpoints {

std::uint32_t local_endpoints::open(std::string_view name) {
  const auto id = ids_.take();
  if (id == 0) return 0;
  auto& e = pages_.at(slot_of(id));
  {
    const base::lock_guard first(e.box.taking);
    const base::lock_guard guard(e.box.lock);
    e.box.open(id);
    e.box.name = name;
  }
  open_count_.fetch_add(1, std::memory_order_relaxed);  // a counter for display
  handlers_.opened();
  return id;
}

void local_endpoints::drop_name(std::uint32_t id) noexcept {
  local_endpoint* e = find(id);
  if (!e) return;
  const base::lock_guard guard(e->box.lock);
  if (e->box.id == id) e->box.name.clear();
}

outcome local_endpoints::close(std::uint32_t id, closed& left) noexcept {
  local_endpoint* e = find(id);
  if (!e) return outcome::gone;
  int descriptor = -1;
  {
    woken then;
    const base::lock_guard first(e->box.taking);
    const base::lock_guard guard(e->box.lock);
    if (e->box.id != id) return outcome::gone;
    left.name = std::exchange(e->box.name, {});
    left.senders = e->box.owed;
    descriptor = e->box.take_descriptor();
    e->by = {};
    while (parcel* p = e->box.pop())
      if (p->ready) left.unread.push_back(p);  // the others end when their bytes have come
    e->box.close(then);
  }
  if (descriptor >= 0) ::close(descriptor);
  open_count_.fetch_sub(1, std::memory_order_relaxed);  // a counter for display
  handlers_.closed();
  ids_.give_back(id);
  return outcome::ok;
}

std::vector<std::uint32_t> local_endpoints::open_ids() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t slot = 0; slot < slots_max; ++slot) {
    local_endpoint* e = pages_.find(slot);
    if (!e) break;
    const base::lock_guard guard(e->box.lock);
    if (e->box.id != 0) all.push_back(e->box.id);
  }
  return all;
}

outcome local_endpoints::descriptor(std::uint32_t id, int& descriptor) noexcept {
  local_endpoint* e = find(id);
  if (!e) return outcome::gone;
  const base::lock_guard first(e->box.taking);
  const base::lock_guard guard(e->box.lock);
  if (e->box.id != id) return outcome::gone;
  if (e->box.descriptor() < 0) e->box.open_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  descriptor = e->box.descriptor();
  return descriptor >= 0 ? outcome::ok : outcome::no_memory;
}

outcome local_endpoints::handle(std::uint32_t id, const handler& by) {
  local_endpoint* e = find(id);
  if (!e) return outcome::gone;
  if (by.call) handlers_.need_thread();
  {
    const base::lock_guard first(e->box.taking);
    const base::lock_guard guard(e->box.lock);
    if (e->box.id != id) return outcome::gone;
    e->by = by;
    if (!e->box.any() || !e->becomes_runnable()) return outcome::ok;
  }
  handlers_.ready(*e);
  return outcome::ok;
}

}  // namespace headway::endpoints
