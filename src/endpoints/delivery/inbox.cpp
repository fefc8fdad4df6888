#include "endpoints/delivery/inbox.hpp"

#include <unistd.h>

#include <utility>

namespace headway::endpoints {
namespace {

/// Prefetches the message that will be taken next: its block's header and its first bytes are in
/// the sender's cache.
void fetch(const parcel& p) noexcept {
  const auto* lines = reinterpret_cast<const std::byte*>(&p);
  __builtin_prefetch(lines - block::waits_offset, 1);
  __builtin_prefetch(lines + (sizeof(block) - block::waits_offset));
}

}  // namespace

parcel* inbox::find(const filter& wanted) noexcept {
  for (parcel* p = waiting_.front(); p; p = waiting_.after(*p)) {
    if (!wanted.admits(*p)) continue;
    // Later ones must not overtake it.
    return p->ready ? p : nullptr;
  }
  return nullptr;
}

parcel* inbox::take_waiting(const filter& wanted) noexcept {
  parcel* p = find(wanted);
  if (!p) return nullptr;
  waiting_.erase(*p);
  if (descriptor_ >= 0) update_descriptor();
  return p;
}

parcel* inbox::take_aside(const filter& wanted) noexcept {
  if (!plain_) return nullptr;  // the descriptor must be updated, which needs both locks
  for (parcel* p = aside_.front(); p; p = aside_.after(*p)) {
    if (!wanted.admits(*p)) continue;
    parcel* following = aside_.after(*p);
    aside_.erase(*p);
    if (following) fetch(*following);
    note_drained();
    return p;
  }
  return nullptr;
}

parcel* inbox::take(const filter& wanted) noexcept {
  if (plain_ && unready_ == 0) {
    aside_.append(waiting_);
    return take_aside(wanted);
  }
  for (parcel* p = aside_.front(); p; p = aside_.after(*p)) {
    if (!wanted.admits(*p)) continue;
    aside_.erase(*p);
    if (descriptor_ >= 0) update_descriptor();
    return p;
  }
  return take_waiting(wanted);
}

void inbox::open_descriptor(int made) noexcept {
  descriptor_ = made;
  plain_ = made < 0;
  if (made >= 0) update_descriptor();
}

int inbox::take_descriptor() noexcept {
  plain_ = true;
  return std::exchange(descriptor_, -1);
}

bool inbox::put(parcel& p, woken& then) noexcept {
  if (p.ready && unready_ == 0) {
    for (waiting_thread* w = receivers_.front(); w; w = receivers_.after(*w)) {
      if (!w->wanted.admits(p)) continue;
      receivers_.erase(*w);
      w->received = &p;
      then.add(*w);
      return false;
    }
  }
  waiting_.push_back(p);
  if (!p.ready) {
    ++unready_;
    return true;
  }
  if (unready_ != 0) settle(then);
  tell_watchers(then);
  return true;
}

void inbox::now_ready(parcel& p, woken& then) noexcept {
  p.ready = true;
  --unready_;
  settle(then);
  tell_watchers(then);
}

void inbox::withdraw(parcel& p) noexcept {
  waiting_.erase(p);
  --unready_;
}

/// Gives each waiting receiver the first message that it wants, if there is one.
void inbox::settle(woken& then) noexcept {
  for (waiting_thread* w = receivers_.front(); w;) {
    waiting_thread* following = receivers_.after(*w);
    if (parcel* p = take_waiting(w->wanted)) {
      receivers_.erase(*w);
      w->received = p;
      then.add(*w);
    }
    w = following;
  }
}

void inbox::tell_watchers(woken& then) noexcept {
  if (descriptor_ >= 0) update_descriptor();
  while (!watches_.empty() && then.watcher_count < woken::watchers_max && !waiting_.empty()) {
    watching_thread* by = nullptr;
    for (watch* w = watches_.front(); w && !by; w = watches_.after(*w))
      if (!w->by->claimed.exchange(true, std::memory_order_relaxed)) by = w->by;  // one thread wins
    if (!by) return;
    then.watchers[then.watcher_count++] = by;
    return;  // one message for one thread
  }
}

/// Reads `aside_` without `taking`, because it changes only under both locks while a descriptor is
/// open.
void inbox::update_descriptor() noexcept HEADWAY_NO_THREAD_SAFETY_ANALYSIS {
  const bool something = !waiting_.empty() || !aside_.empty();
  if (something == readable_) return;
  readable_ = something;
  std::uint64_t count = 1;
  // An eventfd reads and writes these eight bytes at once; it is only read when readable.
  [[maybe_unused]] const auto done = something ? write(descriptor_, &count, sizeof count)
                                               : read(descriptor_, &count, sizeof count);
}

std::uint32_t& inbox::first_debt(std::uint32_t process) {
  return owed.emplace_back(process, 0u).units;
}

bool inbox::remove_receiver(waiting_thread& w) noexcept {
  if (!w.listed) return false;
  w.listed = false;
  receivers_.erase(w);
  return true;
}

bool inbox::remove_sender(waiting_thread& w) noexcept {
  if (!w.listed) return false;
  w.listed = false;
  senders_.erase(w);
  return true;
}

void inbox::close(woken& then) noexcept {
  id = taking_id = 0;
  then.add_all(receivers_);
  wake_senders(then);
  for (watch* w = watches_.front(); w && then.watcher_count < woken::watchers_max;
       w = watches_.after(*w))
    if (!w->by->claimed.exchange(true, std::memory_order_relaxed))  // one thread wins
      then.watchers[then.watcher_count++] = w->by;
  from_here = unreturned = 0;
  owed.clear();
  unready_ = 0;
  readable_ = false;
}

}  // namespace headway::endpoints
