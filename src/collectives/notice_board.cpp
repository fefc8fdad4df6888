#include "collectives/notice_board.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/clock.hpp"
#include "base/fence.hpp"
#include "collectives/agreement.hpp"

namespace headway::collectives {
namespace {

// Looks before the engine is asked: with processors to spare about a microsecond, else a few turns
// of the others on this one. Measured by bench/mpi/allreduce.c, 4, 8 and 16 ranks on 2 cores: to
// look 30 times before each yield takes 1.4 times as long, 1 to 50 yields make no difference.
constexpr int looks_spinning = 40;
constexpr int looks_yielding = 10;

}  // namespace

notice_board::looker::looker(notice_board& whose) noexcept
    : ltask("notice board", &notice_board::on_turn), owner(whose) {}

notice_board::notice_board(team& ranks, rails::board& memory, progress::engine& engine,
                           std::span<const std::uint32_t> processes, std::uint32_t slot)
    : team_(ranks), memory_(memory), engine_(engine), task_(*this) {
  for (const std::uint32_t process : processes) {
    processes_.push_back(rails::peer_id{process});
    lines_.push_back(reinterpret_cast<notice*>(memory.lines_of(processes_.back(), slot)));
  }
  memory_.watch(*this);
}

notice_board::~notice_board() { memory_.unwatch(*this); }

std::unique_ptr<notice_board> notice_board::open(team& ranks, rails::board* memory,
                                                 progress::engine& engine,
                                                 std::span<const std::uint32_t> processes) {
  const bool reserved = memory && memory->try_reserve();
  const bool all_seen = reserved && std::ranges::all_of(processes, [&](std::uint32_t process) {
                          return memory->lines_of(rails::peer_id{process}, 0) != nullptr;
                        });
  const std::uint64_t free = agree(ranks, all_seen ? memory->unused() : 0);
  const auto slot = static_cast<std::uint32_t>(std::countr_zero(free));
  if (free != 0) memory->use(slot);
  if (reserved) memory->end_reservation();
  if (free == 0) return nullptr;
  return std::make_unique<notice_board>(ranks, *memory, engine, processes, slot);
}

notice_board::notice& notice_board::line_of(std::size_t rank) const noexcept {
  return notice_of(lines_[rank], number_);
}

const std::byte* notice_board::value_of(int rank) const noexcept {
  return line_of(static_cast<std::size_t>(rank)).value.bytes;
}

bool notice_board::all_here() const noexcept {
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (!line_of(i).holds(number_)) return false;
  return true;
}

messages::outcome notice_board::meet(std::span<const std::byte> mine) noexcept {
  if (broken_) return messages::outcome::peer_lost;
  const auto me = static_cast<std::size_t>(team_.rank);
  ++number_;
  notice& own = line_of(me);
  own.value.size = mine.size();
  if (!mine.empty()) std::memcpy(own.value.bytes, mine.data(), mine.size());
  own.publish(number_);
  for (std::size_t i = 0; i < processes_.size(); ++i)
    if (i != me) memory_.wake(processes_[i]);
  for (int looks = team_.crowded ? looks_yielding : looks_spinning; looks > 0; --looks) {
    if (all_here()) return compare(mine.size());
    if (team_.crowded) {
      sched_yield();
    } else {
      base::relax();
    }
  }
  wait();
  return broken_ ? messages::outcome::peer_lost : compare(mine.size());
}

messages::outcome notice_board::compare(std::size_t size) noexcept {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto its = line_of(i).value.size;
    if (its == size) [[likely]]
      continue;
    failed_rank_ = static_cast<int>(i);
    return its > size ? messages::outcome::truncated : messages::outcome::failed;
  }
  return messages::outcome::ok;
}

/// Edge (W): whoever sleeps on the rail either sees `waits_` and looks at the lines, or went to
/// sleep before the fence here, and then the look behind it sees what did not ring for him.
void notice_board::wait() noexcept {
  done_.reset();
  waits_.store(true, std::memory_order_relaxed);  // (W)
  base::store_load_fence();
  engine_.submit(task_);
  engine_.wait(done_);
}

bool notice_board::ready() const noexcept {
  return waits_.load(std::memory_order_relaxed) && all_here();  // (W), behind the sleeper's fence
}

progress::ltask_result notice_board::on_turn(progress::ltask& task) noexcept {
  auto& self = static_cast<looker&>(task).owner;
  if (!self.all_here() && !self.look_for_losses()) return progress::ltask_result::idle;
  self.waits_.store(false, std::memory_order_relaxed);
  self.done_.complete();
  return progress::ltask_result::done;
}

/// Whoever waits for a rank that is lost waits in vain; so does whoever waits for a rank that has
/// noticed it. A rank that showed its value before its end is not missed before the next exchange.
bool notice_board::look_for_losses() noexcept {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (!team_.via.lost(static_cast<int>(i))) continue;
    failed_rank_ = static_cast<int>(i);
    broken_ = !all_here();  // the last value may have come before the loss was noticed
    return true;
  }
  return false;
}

}  // namespace headway::collectives
