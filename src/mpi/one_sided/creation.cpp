#include "mpi/one_sided/creation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "c_api/shared_runtime/shared_runtime.hpp"
#include "mpi/collectives/collective_calls.hpp"
#include "mpi/communicators/creation.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/memory_alignment.hpp"
#include "mpi/objects/pool.hpp"
#include "windows/window.hpp"

namespace headway::mpi {
namespace {

using windows::control_line;
using windows::epoch_pair;
using windows::node_block;
using windows::request_slots;
using windows::way;

/// What each process says of its part of the window.
struct part {
  std::int64_t bytes = 0;
  std::int64_t displacement_unit = 1;
  std::uint64_t job = 0;
  std::int32_t job_rank = 0;
  std::int32_t shares_gaps = 0;  // it allows memory between the parts
  std::uint32_t alignment = 1;   // of its memory, at least
};
/// And of its memory, once it has some.
struct part_memory {
  std::uint64_t base = 0;
  std::int32_t well = 1;
  std::int32_t wakes_all = 0;  // it sees all processes of its node, and can wake them
};

[[nodiscard]] std::size_t rounded(std::size_t bytes, std::size_t to) noexcept {
  return (bytes + to - 1) / to * to;
}

[[nodiscard]] int lost() {
  return fail(MPI_ERR_PROC_ABORTED, "a process of the communicator is gone");
}

/// Where the control lines and the memory of this node's ranks are in its block.
/// Shape:    the same in all of them: the lines in the order of the ranks; for each rank what it is
///           told of epochs by each of the others, if they are few; then, from a page on, the
///           memory; or the slots of windows whose memory the program has made, and behind those
///           what is staged.
class block_plan {
 public:
  block_plan(const communicator& own, const std::vector<part>& all, int flavor) {
    const auto& members = own.members();
    const auto node_of = [](processes::peer_id process) {
      return the_library.runtime->node_of(process);
    };
    for (int rank = 0; rank < own.size(); ++rank)
      if (node_of(members[rank]) == node_of(this_process())) ranks_.push_back(rank);
    const auto& first = all[static_cast<std::size_t>(ranks_.front())];
    first_ = {.job = first.job, .rank = static_cast<std::uint32_t>(first.job_rank)};
    bytes_ = ranks_.size() * sizeof(control_line);
    if (ranks_.size() > 1 && ranks_.size() <= windows::epoch_signals::ranks_max) {
      pairs_ = bytes_ = rounded(bytes_, fetched_together);
      bytes_ += ranks_.size() * pairs_bytes();
    }
    bytes_ = rounded(bytes_, page);
    const bool has_memory = flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
    if (has_memory) {
      for (const int rank : ranks_)
        alignment_ =
            std::max<std::size_t>(alignment_, all[static_cast<std::size_t>(rank)].alignment);
      bytes_ = rounded(bytes_, alignment_);  // without gaps, only the first part is aligned
    }
    if (flavor == MPI_WIN_FLAVOR_CREATE && ranks_.size() > 1) {
      slots_ = bytes_;
      bytes_ += ranks_.size() * sizeof(request_slots);
    }
    const bool gaps =
        flavor == MPI_WIN_FLAVOR_ALLOCATE || std::ranges::all_of(ranks_, [&](int rank) {
          return all[static_cast<std::size_t>(rank)].shares_gaps != 0;
        });
    for (const int rank : ranks_) {
      const auto size = static_cast<std::size_t>(all[static_cast<std::size_t>(rank)].bytes);
      if (has_memory && gaps)
        bytes_ = rounded(bytes_, std::max(alignment_, size < page ? line : page));
      offsets_.push_back(has_memory ? std::optional(bytes_) : std::nullopt);
      if (has_memory) bytes_ += size;
    }
    bytes_ = reserved_ = rounded(bytes_, page);
    if (!slots_) return;
    staging_ = bytes_;
    bytes_ += ranks_.size() * windows::staging::bytes;
  }

  [[nodiscard]] const std::vector<int>& ranks() const noexcept { return ranks_; }
  [[nodiscard]] processes::process_id first() const noexcept { return first_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Of the block, in each process.
  [[nodiscard]] std::size_t alignment() const noexcept { return alignment_; }
  /// Of these bytes, those that have memory from the beginning.
  [[nodiscard]] std::size_t reserved() const noexcept { return reserved_; }
  /// The position of a rank among the node's; nothing: it is on another one.
  [[nodiscard]] std::optional<std::size_t> position(int rank) const noexcept {
    const auto at = std::ranges::lower_bound(ranks_, rank);
    if (at == ranks_.end() || *at != rank) return std::nullopt;
    return static_cast<std::size_t>(at - ranks_.begin());
  }
  [[nodiscard]] static control_line* line_in(const node_block& block, std::size_t position) {
    return reinterpret_cast<control_line*>(block.at()) + position;
  }
  [[nodiscard]] bool has_pairs() const noexcept { return pairs_.has_value(); }
  /// What the process at a position tells another one. Only if there are pairs.
  [[nodiscard]] epoch_pair* pair_in(const node_block& block, std::size_t from,
                                    std::size_t to) const {
    return reinterpret_cast<epoch_pair*>(block.at() + *pairs_ + to * pairs_bytes()) + from;
  }
  /// Null: this kind of window has none.
  [[nodiscard]] request_slots* slots_in(const node_block& block, std::size_t position) const {
    return slots_ ? reinterpret_cast<request_slots*>(block.at() + *slots_) + position : nullptr;
  }
  [[nodiscard]] windows::staging staging_in(const node_block& block, std::size_t position) const {
    if (!slots_) return {};
    return {block.at() + staging_ + position * windows::staging::bytes};
  }
  [[nodiscard]] std::byte* memory_in(const node_block& block, std::size_t position) const {
    return offsets_[position] ? block.at() + *offsets_[position] : nullptr;
  }

 private:
  static constexpr std::size_t page = 4096, line = 64;
  /// Processors fetch the other line of two beside a line that is read.
  static constexpr std::size_t fetched_together = 2 * line;

  /// Of the pairs of one reader, in lines of its own.
  [[nodiscard]] std::size_t pairs_bytes() const noexcept {
    return rounded(ranks_.size() * sizeof(epoch_pair), fetched_together);
  }

  processes::process_id first_;  // of the node's
  std::vector<int> ranks_;
  std::vector<std::optional<std::size_t>> offsets_;
  std::optional<std::size_t> pairs_, slots_;
  std::size_t staging_ = 0, bytes_ = 0, reserved_ = 0, alignment_ = 1;
};

/// The name of the block while it has one: of the first of the window's processes here, with its
/// job, and of the window.
[[nodiscard]] std::string path_of(const communicator& own, const block_plan& plan) {
  return fmt::format("{}/headway_window-{:x}-{}-{}", shared_runtime::own_settings().shm.directory,
                     plan.first().job, own.id(), plan.first().rank);
}

/// The memory that the ranks of this node share. Collective over all ranks. Nothing in `block`:
/// they share none. False: a process was lost.
[[nodiscard]] bool share_block(communicator& own, const block_plan& plan, node_block& block) {
  const bool is_first = plan.ranks().front() == own.rank();
  const bool is_alone = plan.ranks().size() == 1;
  const auto path = path_of(own, plan);
  base::result<node_block> made = node_block();
  if (is_alone) {
    made = node_block::own(plan.bytes(), plan.alignment());
  } else if (is_first) {
    made = node_block::create(path, plan.bytes(), plan.reserved(), plan.alignment());
  }
  std::vector<part_memory> all;
  const auto here = [&] {
    return std::ranges::all_of(
        plan.ranks(), [&](int rank) { return all[static_cast<std::size_t>(rank)].well != 0; });
  };
  if (!gather_values(own, part_memory{.well = made.has_value()}, all)) return false;
  if (here() && !is_first && !is_alone)
    made = node_block::open(path, plan.bytes(), plan.alignment());
  const bool went_on = here();
  if (!made)
    base::log(base::severity::warning, "the window does not use shared memory: {}",
              made.error().text);
  if (!gather_values(own, part_memory{.well = made.has_value()}, all)) return false;
  if (is_first && !is_alone && went_on) node_block::unlink(path);
  if (made && here()) block = std::move(*made);
  return true;
}

/// Whether this process wakes all others of its node without a message.
[[nodiscard]] bool wakes_all(communicator& own, const block_plan& plan, const node_block& block) {
  if (block.at() == nullptr || !plan.has_pairs() ||
      shared_runtime::own_settings().windows.best == way::wire)
    return false;
  std::vector<processes::peer_id> others;
  for (const int rank : plan.ranks()) others.push_back(own.members()[rank]);
  return windows::epoch_signals::can_wake(the_library.runtime->shm_slots(), others);
}

/// How this process reaches the others, once it is known what memory they have.
[[nodiscard]] std::vector<windows::member> make_members(communicator& own,
                                                        const std::vector<part>& parts,
                                                        const std::vector<part_memory>& memory,
                                                        const block_plan& plan,
                                                        const windows::window::parts& made) {
  const auto best = shared_runtime::own_settings().windows.best;
  std::vector<windows::member> members(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const int rank = static_cast<int>(i);
    auto& m = members[i];
    m.bytes = parts[i].bytes;
    m.displacement_unit = made.dynamic ? 1 : parts[i].displacement_unit;
    m.base = memory[i].base;
    m.process = own.members()[rank];
    const auto position = plan.position(rank);
    const bool is_self = rank == own.rank();
    if (is_self) m.mapped = reinterpret_cast<std::byte*>(m.base);
    if (!position || !(made.block.at() || is_self) || best == way::wire) {
      if (position && made.block.at() && !m.mapped)
        m.mapped = plan.memory_in(made.block, *position);
      continue;
    }
    m.line = made.block.at() ? block_plan::line_in(made.block, *position) : made.own_line;
    if (made.wakes != nullptr && !is_self) {
      const auto self = *plan.position(own.rank());
      m.to = plan.pair_in(made.block, self, *position);
      m.from = plan.pair_in(made.block, *position, self);
    }
    if (!m.mapped) m.mapped = plan.memory_in(made.block, *position);
    if (made.dynamic) continue;  // only the target knows what is attached
    if (m.mapped && best == way::mapped) {
      m.by = way::mapped;
    } else if (made.copies && made.context.peer_of(rank).id() == m.process &&
               made.copies->limits_to(m.process).direct) {
      m.by = way::nearby;
      m.slots = plan.slots_in(made.block, *position);
      m.staged = plan.staging_in(made.block, *position);
    }
  }
  return members;
}

[[nodiscard]] windows::counting counting_now() noexcept {
  return calls_are_serialized() ? windows::counting::alone : windows::counting::shared;
}

/// The attribute MPI_WIN_DISP_UNIT, which is an int.
[[nodiscard]] int narrow_unit(const window_call& call) noexcept {
  const auto unit = call.displacement_unit;
  return std::in_range<int>(unit) ? static_cast<int>(unit) : MPI_UNDEFINED;
}

/// Makes the window whose processes are those of `own`.
[[nodiscard]] int build(communicator& own, const window_call& call, window*& made) {
  std::vector<part> parts;
  const auto gaps = call.hints ? call.hints->get("alloc_shared_noncontig") : std::nullopt;
  const auto own_name = the_library.runtime->name_of(this_process());
  const part mine{.bytes = call.size,
                  .displacement_unit = call.displacement_unit,
                  .job = own_name.job,
                  .job_rank = static_cast<std::int32_t>(own_name.rank),
                  .shares_gaps = gaps == "true",
                  .alignment = static_cast<std::uint32_t>(minimum_alignment(call.hints))};
  if (!gather_values(own, mine, parts)) return lost();
  const block_plan plan(own, parts, call.flavor);
  const bool shared = call.flavor == MPI_WIN_FLAVOR_SHARED;
  if (shared && plan.ranks().size() != parts.size())
    return fail(MPI_ERR_RMA_SHARED, "the processes of the communicator do not share memory");

  windows::window::parts ready{
      .exchange = exchange(),
      .context = own.collective(),
      .counts = the_library.runtime->window_counts(),
      .counts_are = counting_now(),
      .copies = the_library.runtime->node_memory(),
      .own_bytes = call.size,
      .dynamic = call.flavor == MPI_WIN_FLAVOR_DYNAMIC,
      .oversubscribed = the_library.runtime->outnumber_processors(own.members())};
  if (!share_block(own, plan, ready.block)) return lost();
  part_memory my_memory;
  const auto position = *plan.position(own.rank());
  if (ready.block.at() != nullptr) {
    ready.own_line = block_plan::line_in(ready.block, position);
    my_memory.base = reinterpret_cast<std::uint64_t>(plan.memory_in(ready.block, position));
  } else {  // no memory in common: each process has its own
    const auto before = rounded(sizeof(control_line), mine.alignment);
    auto alone = node_block::own(before + static_cast<std::size_t>(call.size), mine.alignment);
    my_memory.well = alone.has_value() && !shared;
    if (alone) ready.own_block = std::move(*alone);
    ready.own_line = reinterpret_cast<control_line*>(ready.own_block.at());
    if (my_memory.well)
      my_memory.base = reinterpret_cast<std::uint64_t>(ready.own_block.at() + before);
  }
  if (call.flavor == MPI_WIN_FLAVOR_CREATE)
    my_memory.base = reinterpret_cast<std::uint64_t>(call.base);
  if (call.flavor == MPI_WIN_FLAVOR_DYNAMIC) my_memory.base = 0;
  my_memory.wakes_all = wakes_all(own, plan, ready.block);
  std::vector<part_memory> memory;
  if (!gather_values(own, my_memory, memory)) return lost();
  if (std::ranges::any_of(memory, [](const part_memory& m) { return m.well == 0; }))
    return fail(MPI_ERR_NO_MEM, "there is not enough memory for the window");
  const bool all_wake = std::ranges::all_of(plan.ranks(), [&](int rank) {
    return memory[static_cast<std::size_t>(rank)].wakes_all != 0;
  });
  if (all_wake) ready.wakes = the_library.runtime->shm_slots();
  ready.members = make_members(own, parts, memory, plan, ready);
  if (std::ranges::any_of(ready.members,
                          [](const windows::member& m) { return m.slots != nullptr; })) {
    ready.own_slots = plan.slots_in(ready.block, position);
    ready.own_staged = plan.staging_in(ready.block, position);
  }
  made = pool<window>::all().make(own,
                                  window::facts{.base = reinterpret_cast<void*>(my_memory.base),
                                                .size = call.size,
                                                .displacement_unit = narrow_unit(call),
                                                .flavor = call.flavor},
                                  std::make_unique<windows::window>(std::move(ready)));
  if (call.hints) made->hints.set(call.hints->entries());
  made->handler = errhandler_ref(errors_are_fatal());
  made->memory().start();
  return MPI_SUCCESS;
}

}  // namespace

int make_window(communicator& comm, const window_call& call, window*& made) {
  if (comm.is_inter()) return fail(MPI_ERR_COMM, "the communicator is an inter-communicator");
  if (call.displacement_unit <= 0)
    return fail(MPI_ERR_DISP, "the displacement unit is {}", call.displacement_unit);
  auto* own = make_communicator(comm, comm.shared_members(), comm.rank());
  if (const int code = agree_and_open(comm, own)) return code;
  const int code = build(*own, call, made);
  if (code != MPI_SUCCESS) free_communicator(*own);
  return code;
}

int free_window(window& freed) {
  communicator& own = freed.comm();
  const auto settled = freed.memory().settle();
  if (run_collective(own, calls::barrier{}) != MPI_SUCCESS || settled == windows::status::lost)
    return code_of(windows::status::lost, freed);
  freed.memory().stop();
  pool<window>::all().drop(&freed);
  free_communicator(own);
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
