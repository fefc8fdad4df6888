#include "collectives/node_memory.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "collectives/agreement.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/schedule_cache.hpp"
#include "collectives/slot_agreement.hpp"
#include "messages/context.hpp"

namespace headway::collectives {

namespace {

std::vector<rails::peer_id> processes_of(const messages::context& members) {
  const auto all = members.members->peers();
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
  return memory_.get(process, rails::direct_place(from, to.size()), to, 0) == rails::post::done;
}

node_memory::node_memory(team& ranks, rail_memory memory, progress::engine& engine,
                         messages::context& members, nodes where,
                         std::optional<neighborhood> neighbors)
    : team_(ranks),
      rail_slots_(memory.slots),
      engine_(engine),
      members_(members),
      nodes_(where),
      neighbors_(neighbors) {
  if (memory.copies) copies_.emplace(*memory.copies, processes_);
  const bool together = where.only_one && ranks.size <= shm_collective::ranks_max;
  if (together) processes_ = processes_of(members);
  if (ranks.size == 1 || (!together && where.number_of == nullptr)) calls_ = last_try;
}

bool node_memory::find_levels() {
  const auto all = processes_of(members_);
  std::vector<int> numbers;
  numbers.reserve(all.size());
  for (const auto process : all) numbers.push_back(nodes_.number_of(process));
  levels_ = std::make_unique<node_levels>(team_, divided(numbers, shm_collective::ranks_max));
  if (levels_->most_ranks() == 1) return false;
  for (const int rank : levels_->ranks_on(levels_->own_node()))
    processes_.push_back(all[static_cast<std::size_t>(rank)]);
  return true;
}

bool node_memory::try_now() {
  ++calls_;
  if (calls_ != first_try && calls_ != last_try) return false;
  if (processes_.empty() && !find_levels()) {
    calls_ = last_try;
    return false;
  }
  const auto slot = open_slot();
  if (!slot) return true;
  calls_ = last_try;
  open_banks(*slot);
  return true;
}

std::optional<std::uint32_t> node_memory::open_slot() {
  for (int rank = 0; rank < local().size; ++rank)
    messages::exchange::use_member(members_, local().bound_rank(rank));
  if (levels_) return agree_on_slot(team_, rail_slots_, processes_);
  slots_ = shm_collective::open(team_, rail_slots_, engine_, processes_);
  team_.memory.slots = slots_.get();
  return slots_ ? std::optional(slots_->slot()) : std::nullopt;
}

void node_memory::open_banks(std::uint32_t slot) {
  constexpr std::uint64_t has_bank = 1, has_copies = 2, has_measured = 4, lends = 8;
  const bool is_alone = local().size == 1;
  std::uint64_t mine = is_alone ? has_bank | has_copies | has_measured | lends : 0;
  if (!is_alone) {
    const bool visible = std::ranges::all_of(processes_, [&](rails::peer_id process) {
      return rail_slots_->bank_of(process, slot) != nullptr;
    });
    if (visible && rail_slots_->reserve_bank(slot)) mine |= has_bank;
    if (copies_ && copies_->reach_all(local().rank)) mine |= has_copies;
    if (const auto known = rail_slots_->lending_is_faster())
      mine |= has_measured | (*known ? lends : 0);
  }
  const auto all = agree(team_, mine);
  if ((all & has_bank) == 0) return;
  if (!is_alone)
    banks_ = std::make_unique<shared_banks>(
        local(), *rail_slots_, processes_,
        bank_memory::location{.slot = slot, .passed = open_areas(slot)});
  if (neighbors_ && !levels_) match_edges(slot);
  auto& memory = local().memory;
  memory.banks = banks_.get();
  team_.memory.levels = levels_.get();
  if ((all & has_copies) == 0) return;
  if (!is_alone) memory.copies = &*copies_;
  if ((all & has_measured) != 0) {
    memory.lends = (all & lends) != 0;
    return;
  }
  const bool faster = measure_lending();
  if (!is_alone) rail_slots_->note_lending(faster);
  memory.lends = agree(team_, faster) != 0;
}

passed_areas* node_memory::open_areas(std::uint32_t slot) {
  if (processes_.size() != 2) return nullptr;
  const auto own = static_cast<std::size_t>(local().rank);
  return &areas_.emplace(*rail_slots_, slot, processes_[own], processes_[1 - own]);
}

std::unique_ptr<persistent_banks> node_memory::open_persistent() {
  if (levels_ && levels_->fewest_ranks() == 1) return nullptr;
  const auto slot = agree_on_slot(team_, rail_slots_, processes_);
  if (!slot || agree(team_, rail_slots_->reserve_bank(*slot)) == 0) return nullptr;
  return std::make_unique<persistent_banks>(team_, local(), *rail_slots_, processes_, *slot,
                                            areas_ ? &*areas_ : nullptr);
}

void node_memory::begin_persistent(schedule& s) {
  if (local().memory.banks && !std::exchange(persistent_tried_, true))
    persistent_ = open_persistent();
  if (persistent_) persistent_->begin(s);
  else s.set_persistent();
}

bool node_memory::settle_persistent(schedule& s, bool is_built) {
  return persistent_ ? persistent_->settle(s, is_built) : is_built;
}

/// The lists lie in the banks, which nothing else uses yet: the first agreement says that all are
/// there, the second that all have been read. The messages of an agreement order these accesses.
void node_memory::match_edges(std::uint32_t slot) {
  const auto& own = neighbors_->destinations;
  const auto list_of = [&](int rank) {
    return reinterpret_cast<int*>(
        rail_slots_->bank_of(processes_[static_cast<std::size_t>(rank)], slot) +
        rails::shm_slots::bank_page_bytes);
  };
  const bool fits = (own.size() + 1) * sizeof(int) <= rails::shm_slots::bank_bytes;
  if (fits) {
    int* const list = list_of(team_.rank);
    list[0] = static_cast<int>(own.size());
    std::ranges::copy(own, list + 1);
  }
  if (agree(team_, fits) == 0) return;
  edges_ = collectives::match_edges(*neighbors_, team_.rank, team_.size, [&](int rank) {
    const int* const list = list_of(rank);
    return std::span(list + 1, static_cast<std::size_t>(list[0]));
  });
  if (agree(team_, edges_.has_value()) != 0) team_.memory.edges = &*edges_;
}

/// Rank 0 of each node broadcasts, both ways in turns. True on that rank, whose own time says
/// nothing: it returns before the others have read what it has copied into its bank.
bool node_memory::measure_lending() {
  constexpr std::int64_t bytes = 128 * 1024;
  constexpr int turns = 3;
  std::vector<std::byte> data(bytes);
  const auto& type = datatypes::layout::of(datatypes::number::byte);
  const auto time = [&](bool lent) {
    std::ranges::fill(data, std::byte{1});
    local().memory.lends = lent;
    const auto steps = new_schedule();
    if (banks_) bcast_shared(*steps, local(), {data.data(), bytes, &type}, 0);
    steps->bind(team_, team_.begin_agreement());
    const bool together = agree(team_, 1) != 0;
    const auto begin = base::machine_now_ns();
    const bool done = steps->run() == messages::outcome::ok;
    return together && done ? base::machine_now_ns() - begin : 0;
  };
  // Once round the bank, because where it was never used each page costs a fault on both sides.
  for (std::size_t used = 0; used < rails::shm_slots::bank_bytes; used += bytes)
    static_cast<void>(time(false));
  auto best_copied = ~std::uint64_t{0}, best_lent = best_copied;
  for (int turn = 0; turn < turns; ++turn) {
    best_copied = std::min(best_copied, time(false));
    best_lent = std::min(best_lent, time(true));
  }
  // A copy that is a little faster is not worth the wait of the rank that lends.
  return local().rank == 0 || best_lent < best_copied * 4 / 5;
}

}  // namespace headway::collectives
