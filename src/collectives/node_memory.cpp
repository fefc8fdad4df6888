#include "collectives/node_memory.hpp"

#include <utility>

#include "collectives/agreement.hpp"
#include "messages/context.hpp"

namespace headway::collectives {

namespace {

std::vector<rails::peer_id> processes_of(const messages::context* members) {
  if (!members) return {};
  const auto all = members->members->peers();
  return {all.begin(), all.end()};
}

}  // namespace

bool node_memory::rail_copies::reach_all(int own_rank) const noexcept {
  for (std::size_t i = 0; i < processes_.size(); ++i)
    if (static_cast<int>(i) != own_rank && !memory_.limits_to(processes_[i]).direct) return false;
  return true;
}

bool node_memory::rail_copies::read(int rank, std::uint64_t from,
                                    std::span<std::byte> to) noexcept {
  const auto process = processes_[static_cast<std::size_t>(rank)];
  return memory_.get(process, at(from, to.size()), to, 0) == rails::post::done;
}

bool node_memory::rail_copies::write(int rank, std::uint64_t to,
                                     std::span<const std::byte> from) noexcept {
  const auto process = processes_[static_cast<std::size_t>(rank)];
  return memory_.put(process, at(to, from.size()), from, 0) == rails::post::done;
}

node_memory::node_memory(team& ranks, rail_memory memory, progress::engine& engine,
                         messages::context* members)
    : team_(ranks),
      rail_slots_(memory.slots),
      engine_(engine),
      members_(members),
      processes_(processes_of(members)) {
  if (memory.copies) copies_.emplace(*memory.copies, processes_);
  const bool possible =
      !processes_.empty() && 1 < ranks.size && ranks.size <= shm_collective::ranks_max;
  if (!possible) calls_ = last_try;
}

bool node_memory::try_now() {
  ++calls_;
  if (calls_ != first_try && calls_ != last_try) return false;
  messages::exchange::use_members(*members_);
  const bool reached = copies_ && copies_->reach_all(team_.rank);
  const bool all_reached = agree(team_, reached) != 0;
  team_.memory.copies = all_reached ? &*copies_ : nullptr;
  slots_ = shm_collective::open(team_, rail_slots_, engine_, processes_);
  team_.memory.slots = slots_.get();
  if (slots_) calls_ = last_try;
  return true;
}

}  // namespace headway::collectives
