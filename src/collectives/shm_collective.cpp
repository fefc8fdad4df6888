#include "collectives/shm_collective.hpp"

#include <cstring>

#include "base/assert.hpp"
#include "base/prefetch_for_writing.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/looking.hpp"
#include "collectives/slot_agreement.hpp"

namespace headway::collectives {

shm_collective::shm_collective(team& ranks, rails::shm_slots& memory, progress::engine& engine,
                               std::span<const rails::peer_id> processes, std::uint32_t slot)
    : node_wait("shared-memory collective", memory, engine),
      team_(ranks),
      memory_(memory),
      slot_(slot),
      processes_(processes.begin(), processes.end()) {
  HEADWAY_ASSERT(processes.size() == static_cast<std::size_t>(ranks.size));
  for (const auto process : processes_)
    lines_.push_back(reinterpret_cast<line*>(memory.lines_of(process, slot)));
}

std::unique_ptr<shm_collective> shm_collective::open(team& ranks, rails::shm_slots* memory,
                                                     progress::engine& engine,
                                                     std::span<const rails::peer_id> processes) {
  const auto slot = agree_on_slot(ranks, memory, processes);
  if (!slot) return nullptr;
  return std::make_unique<shm_collective>(ranks, *memory, engine, processes, *slot);
}

shm_collective::line& shm_collective::line_of(std::size_t rank) const noexcept {
  return slot_of(lines_[rank], number_);
}

const std::byte* shm_collective::value_of(int rank) const noexcept {
  HEADWAY_DEBUG_ASSERT(0 <= rank && rank < team_.size);
  return line_of(static_cast<std::size_t>(rank)).value.bytes;
}

bool shm_collective::is_there() const noexcept {
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (!line_of(i).holds(in_lines_)) return false;
  return true;
}

messages::outcome shm_collective::allreduce(const reduction& r) noexcept {
  const auto bytes = static_cast<std::size_t>(r.bytes());
  const auto how = share({static_cast<const std::byte*>(r.input()), bytes}, collective::allreduce);
  if (how != messages::outcome::ok) [[unlikely]]
    return how;
  alignas(16) std::byte sum[value_bytes_max];
  std::memcpy(sum, value_of(0), bytes);
  for (int rank = 1; rank < team_.size; ++rank) r.op.apply(r.op, value_of(rank), sum, r.count);
  if (bytes != 0) std::memcpy(r.receive, sum, bytes);  // of no elements the buffer may be null
  return messages::outcome::ok;
}

messages::outcome shm_collective::share(std::span<const std::byte> mine, collective what) noexcept {
  HEADWAY_DEBUG_ASSERT(mine.size() <= value_bytes_max);
  if (broken_) return messages::outcome::peer_lost;
  const auto me = static_cast<std::size_t>(team_.rank);
  team_.log.note(call{.what = what, .in_slots = true}.word());
  in_lines_ = with_history(++number_, team_.log.history());
  line& own = line_of(me);
  own.value.size = mine.size();
  if (!mine.empty()) std::memcpy(own.value.bytes, mine.data(), mine.size());
  own.publish(in_lines_);
  for (std::size_t i = 0; i < processes_.size(); ++i)
    if (i != me) memory_.wake(processes_[i], true);  // only a thread that waits here reads it
  if (look_for_a_while(team_.oversubscribed, team_.via, [this] { return is_there(); })) {
    // Each rank has published, so it has read what is there of the exchange before.
    base::prefetch_for_writing(slot_of(lines_[me], number_ + 1));
    return compare(mine.size());
  }
  team_.log.waiting_begins();
  wait();
  team_.log.waiting_ends();
  if (broken_) return messages::outcome::peer_lost;
  return is_there() ? compare(mine.size()) : messages::outcome::failed;
}

messages::outcome shm_collective::compare(std::size_t size) noexcept {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto its = line_of(i).value.size;
    if (its == size) [[likely]]
      continue;
    failed_rank_ = static_cast<int>(i);
    return its > size ? messages::outcome::truncated : messages::outcome::failed;
  }
  return messages::outcome::ok;
}

/// A lost rank publishes no value any more, nor does a rank that has noticed the loss. If a rank
/// published its value before it died, it is missing only in the next exchange.
bool shm_collective::is_over() noexcept {
  if (team_.log.is_broken()) {
    failed_rank_ = team_.rank;
    return true;
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (!team_.via.lost(static_cast<int>(i))) continue;
    failed_rank_ = static_cast<int>(i);
    broken_ = !is_there();  // the last value may have come before the loss was noticed
    return true;
  }
  return false;
}

}  // namespace headway::collectives
