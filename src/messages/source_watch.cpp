#include "messages/source_watch.hpp"

#include <array>

#include "base/lock_guard.hpp"
#include "messages/parts.hpp"
#include "progress/core/ticks.hpp"

namespace headway::messages {

source_watch::look::look(exchange_parts& of) noexcept
    : ltask("watch sources", &source_watch::run, progress::ltask_kind::one_shot), parts(of) {}

void source_watch::start() {
  task_.parts.engine.add_tick(&source_watch::tick, this, progress::ticks::each_tenth_second);
}

void source_watch::stop() noexcept {
  task_.parts.engine.remove_tick(&source_watch::tick, this);
  static_cast<void>(task_.parts.engine.cancel(task_));
}

void source_watch::tick(void* self) noexcept {
  auto& task = static_cast<source_watch*>(self)->task_;
  if (!task.submitted.exchange(true, std::memory_order_acquire))  // (R)
    task.parts.engine.submit(task);
}

progress::ltask_result source_watch::run(progress::ltask& self) noexcept {
  auto& task = static_cast<look&>(self);
  for (auto& slot : task.parts.pages) {
    exchange_parts::page* entries = slot.load(std::memory_order_acquire);  // (E)
    if (!entries) continue;
    for (auto& entry : *entries)
      if (context* where = entry.load(std::memory_order_acquire)) {  // (E)
        look_in(task.parts, *where);
        task.parts.failing.look_in(*where);
      }
  }
  task.submitted.store(false, std::memory_order_release);  // (R)
  return progress::ltask_result::done;
}

void source_watch::look_in(exchange_parts& parts, context& where) noexcept {
  std::array<int, sources_max> found;
  std::size_t count = 0;
  const auto unwatched = [&](int rank) { return parts.peers.unwatched((*where.members)[rank]); };
  // Peers are never unmade: once all members are peers, this function returns here.
  const int size = where.members->size();
  while (where.first_unwatched < size && !unwatched(where.first_unwatched)) ++where.first_unwatched;
  if (where.first_unwatched == size) return;
  const auto note = [&](int rank) {
    if (unwatched(rank)) found[count++] = rank;
    return count == found.size();
  };
  bool any = false;
  const auto wanted = [&](int source) {
    any |= source == any_source;
    return source != any_source && note(source);
  };
  {
    const base::lock_guard guard(where.lock);
    static_cast<void>(
        where.waiting.any_posted([&](const request& r) { return wanted(r.peer_rank_); }));
    for (auto* w = where.watches.front(); w && count < found.size(); w = where.watches.after(*w))
      static_cast<void>(wanted(w->wanted.source));
  }
  for (int i = 0; any && i < size && count < found.size(); ++i) {
    static_cast<void>(note(where.next_source));
    where.next_source = (where.next_source + 1) % size;
  }
  for (std::size_t i = 0; i < count; ++i) static_cast<void>(where.peer_of(found[i]));
}

}  // namespace headway::messages
