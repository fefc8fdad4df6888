#include "messages/operation_log.hpp"

#include <algorithm>

#include "base/lock_guard.hpp"

namespace headway::messages {

std::optional<operation_log::word> operation_log::at(std::uint64_t position) const noexcept {
  const auto entry = entries_[position % kept].load(std::memory_order_relaxed);
  if (position == 0 || entry >> 32 != (position & position_mask)) return {};
  return static_cast<word>(entry);
}

operation_log::copy operation_log::make_copy() const noexcept {
  copy made{.last = last(), .words = {}};
  for (std::size_t i = 0; i < kept && i < made.last; ++i)
    made.words[i] = at(made.last - i).value_or(0);
  return made;
}

std::optional<operation_log::misfit> operation_log::compare(const copy& other, int rank,
                                                            int own_rank) const noexcept {
  for (auto i = std::min<std::uint64_t>(other.last, kept); i-- > 0;) {
    const auto position = other.last - i;
    const auto its = other.words[i];
    const auto mine = at(position).value_or(0);
    if (its == 0 || mine == 0 || (its & compared) == (mine & compared)) continue;
    return misfit{.position = position, .sides = {{{rank, its}, {own_rank, mine}}}};
  }
  return {};
}

bool operation_log::break_with(const misfit& why) noexcept {
  const base::lock_guard guard(lock_);
  if (broken_.load(std::memory_order_relaxed)) return false;  // written under the lock
  why_ = why;
  broken_.store(true, std::memory_order_release);  // (K)
  return true;
}

}  // namespace headway::messages
