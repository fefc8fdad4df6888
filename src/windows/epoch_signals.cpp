#include "windows/epoch_signals.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/thread_role.hpp"
#include "collectives/looking.hpp"
#include "windows/slot_service.hpp"
#include "windows/target.hpp"

namespace headway::windows {

epoch_signals::expected::expected(const char* name, const parts& of)
    : node_wait(name, of.memory, of.engine), of_(of) {}

bool epoch_signals::expected::is_there() const noexcept {
  return std::ranges::all_of(all_, [](const one& each) { return each.what->told(each.times); });
}

bool epoch_signals::expected::is_over() noexcept { return of_.losses.has_lost(); }

status epoch_signals::expected::await() noexcept {
  const auto look = [this] {
    if (is_there()) return true;
    if (of_.own_slots != nullptr) of_.own_slots->serve();
    return false;
  };
  // With more ranks than processors the engine yields as it does in every wait.
  const auto is_soon_there = [&] {
    const base::waiting_thread_scope waits;
    return of_.oversubscribed ? is_there() : collectives::look_for_a_while(false, of_.engine, look);
  };
  if (!is_soon_there()) wait();
  all_.clear();
  return of_.losses.has_lost() ? status::lost : status::ok;
}

epoch_signals::epoch_signals(parts made)
    : of_(std::move(made)),
      reach_all_(std::ranges::count(of_.peers, nullptr, &peer::to) == 1),  // this rank itself
      times_(of_.peers.size()),
      fences_("fence of a window", of_),
      posts_("start of accesses to a window", of_),
      completes_("end of accesses to a window", of_) {
  HEADWAY_ASSERT(std::ranges::all_of(of_.peers, [](const peer& each) {
    return (each.to == nullptr) == (each.from == nullptr) && (!each.to || each.fences);
  }));
}

bool epoch_signals::can_wake(rails::shm_slots* memory,
                             std::span<const processes::peer_id> all) noexcept {
  return memory != nullptr && std::ranges::all_of(all, [memory](processes::peer_id each) {
           return memory->lines_of(each, 0) != nullptr;
         });
}

status epoch_signals::meet() noexcept {
  HEADWAY_DEBUG_ASSERT(reach_all_);
  const auto mine = of_.own_fences.tell();
  for (int rank = 0; std::cmp_less(rank, of_.peers.size()); ++rank) {
    if (!reach(rank)) continue;
    fences_.add(*at(rank).fences, mine);
    wake(rank);
  }
  return fences_.await();
}

void epoch_signals::expect_post(int rank) {
  HEADWAY_DEBUG_ASSERT(reach(rank));
  posts_.add(at(rank).from->posts, ++times_[static_cast<std::size_t>(rank)].posts);
}

status epoch_signals::await_posts() noexcept { return posts_.await(); }

void epoch_signals::tell_complete(int rank) noexcept {
  HEADWAY_DEBUG_ASSERT(reach(rank));
  at(rank).to->completes.tell();
  wake(rank);
}

void epoch_signals::tell_post(int rank) noexcept {
  HEADWAY_DEBUG_ASSERT(reach(rank));
  at(rank).to->posts.tell();
  wake(rank);
}

void epoch_signals::expect_complete(int rank) {
  HEADWAY_DEBUG_ASSERT(reach(rank));
  completes_.add(at(rank).from->completes, ++times_[static_cast<std::size_t>(rank)].completes);
}

bool epoch_signals::has_completes() const noexcept {
  return completes_.is_there() || of_.losses.has_lost();
}

status epoch_signals::await_completes() noexcept { return completes_.await(); }

}  // namespace headway::windows
