// Small messages that follow each other closely share a packet.
#include "endpoints/wire/packing.hpp"

#include "endpoints/wire/packet_sender.hpp"

namespace headway::endpoints {

void packing::start(packet_sender& by, std::uint32_t process, std::size_t room,
                    std::size_t bytes_end, bool always) noexcept {
  HEADWAY_ASSERT(!by_ && room <= packed_message::room && bytes_end <= room);
  by_ = &by;
  clock_ = by.engine().clock();
  process_ = process;
  always_ = always;
  room_ = room;
  bytes_end_ = bytes_end;
}

bool packing::add(const sending& what, std::uint32_t charge) noexcept {
  HEADWAY_DEBUG_ASSERT(takes(what.bytes));
  // Without a thread that polls, gathered messages would stay.
  if (!always_ && !by_->engine().watched()) return false;
  packed_message* into = nullptr;
  bool fresh = false, full = false;
  {
    const base::lock_guard guard(lock_);
    into = open_.load(std::memory_order_relaxed);  // under the lock
    if (into && !into->fits(what.bytes, room_)) {
      line_up_locked();
      full = true;
      into = nullptr;
    }
    if (!into && (full || always_ || in_a_run())) {
      into = by_->make<packed_message>();
      fresh = into != nullptr;
      if (into) into->begin();
      open_.store(into, std::memory_order_relaxed);  // for others: under the lock, or later (K)
    }
    if (into) into->add(what, charge);
  }
  if (full) {
    went();
    by_->peers().at(process_).send_lined_up();
  }
  if (fresh && notified_.call()) by_->engine().submit(*this);
  return into != nullptr;
}

void packing::line_up_locked() noexcept {
  packed_message* item = open_.load(std::memory_order_relaxed);  // under the lock
  if (!item) return;
  item->payload = {item->entries.data(), item->used};
  by_->peers().at(process_).line_up(*item);
  open_.store(nullptr, std::memory_order_release);  // (K)
}

void packing::send() noexcept {
  line_up();
  by_->peers().at(process_).send_lined_up();
}

void packing::stop() noexcept {
  if (bytes_end_ == 0) return;
  send();
  static_cast<void>(by_->engine().cancel(*this));
}

progress::ltask_result packing::run(progress::ltask& self) noexcept {
  auto& me = static_cast<packing&>(self);
  me.notified_.answer();  // a thread that opens a packet from now on submits the task again
  if (!me.empty()) {
    me.send();
    me.went();
  }
  return progress::ltask_result::done;
}

}  // namespace headway::endpoints
