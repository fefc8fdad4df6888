#include "mpi/communicator.hpp"

#include <algorithm>
#include <mutex>

#include "base/assert.hpp"
#include "collectives/agreement.hpp"
#include "mpi/context_ids.hpp"
#include "mpi/library.hpp"
#include "mpi/message_request.hpp"
#include "mpi/pool.hpp"

namespace headway::mpi {
namespace {

// Freed communicators whose messages are still under way. Cold: filled only by programs that free
// first and complete later.
struct waiting_room {
  std::mutex lock;
  std::vector<communicator*> freed;
};

waiting_room& freed_early() {
  static auto* const made = new waiting_room;
  return *made;
}

/// True if `freed` is gone.
bool try_to_close(communicator& freed) noexcept {
  bool used = false;
  pool<message_request>::all().for_each(
      [&](message_request& each) { used = used || each.uses(freed); });
  if (!used) freed.drop_user();
  return !used;
}

constexpr int board_patience = 4;  // requests before the first try; see seek_board

bool can_share_board(const member_list& members) {
  const auto node_of = [](std::uint32_t process) {
    return the_library.runtime->node_of(static_cast<int>(process));
  };
  return members.size() > 1 && members.size() <= collectives::notice_board::ranks_max &&
         std::ranges::all_of(members, [&](std::uint32_t process) {
           return node_of(process) == node_of(members.front());
         });
}

}  // namespace

communicator::communicator(std::shared_ptr<const member_list> members, int rank, std::string given)
    : name(std::move(given)),
      members_(std::move(members)),
      rank_(rank),
      size_(static_cast<int>(members_->size())) {}

communicator::~communicator() {
  if (!open_) return;
  board_.reset();
  exchange().close_context(messages_);
  exchange().close_context(collective_);
  give_back_context_id(id_);
}

void communicator::open(std::uint32_t id) {
  HEADWAY_ASSERT(!open_);
  id_ = id;
  messages_ = exchange().open_context(2 * id, rank_, *members_, false);
  collective_ = exchange().open_context(2 * id + 1, rank_, *members_, true);
  carrier_.emplace(exchange(), *collective_, the_library.runtime->memory_nearby(), *members_);
  team_.emplace(*carrier_, rank_, size_, the_library.runtime->outnumber_processors(*members_));
  if (!can_share_board(*members_)) board_requests_ = board_requests_max;
  open_ = true;
  follow_hints();
}

void communicator::follow_hints() {
  if (!open_) return;
  for (const auto& [key, value] : hints) {
    if (key != strategy_hint) continue;
    for (auto* side : {messages_, collective_})
      static_cast<void>(messages::exchange::use_strategy(*side, value));  // known: see set_hints
  }
}

/// Not at once: many communicators live for a handful of calls, and a process has few slots.
collectives::notice_board* communicator::seek_board() {
  ++board_requests_;
  if (board_requests_ != board_patience && board_requests_ != board_requests_max) return nullptr;
  team_->direct = collectives::agree(*team_, carrier_->reaches_all()) != 0;
  recent.forget();  // schedules that some ranks still have, and others would make anew, directly
  board_ =
      collectives::notice_board::open(*team_, the_library.runtime->board(), engine(), *members_);
  return board_.get();
}

void communicator::drop_user() noexcept {
  // Release: our use of it is over (G); acquire: so is that of all others, it may be closed (D).
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) pool<communicator>::all().drop(this);
}

void reap_communicators() noexcept {
  auto& waiting = freed_early();
  std::vector<communicator*> again;
  {
    const std::scoped_lock held(waiting.lock);
    again.swap(waiting.freed);
  }
  for (communicator* each : again) {
    if (try_to_close(*each)) continue;
    const std::scoped_lock held(waiting.lock);
    waiting.freed.push_back(each);
  }
}

void free_communicator(communicator& freed) noexcept {
  reap_communicators();
  forget_number(freed);
  freed.retire();
  if (try_to_close(freed)) return;
  auto& waiting = freed_early();
  const std::scoped_lock held(waiting.lock);
  waiting.freed.push_back(&freed);
}

}  // namespace headway::mpi
