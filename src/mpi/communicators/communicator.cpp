#include "mpi/communicators/communicator.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/communicators/context_agreement.hpp"
#include "mpi/communicators/hints.hpp"
#include "mpi/communicators/incarnations.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/point_to_point/message_request.hpp"
#include "mpi/topologies/process_topology.hpp"

namespace headway::mpi {
namespace {

// Communicators that the program freed before it completed all messages on them.
struct freed_communicators {
  base::mutex lock;
  std::vector<communicator*> in_use HEADWAY_GUARDED_BY(lock);
};

freed_communicators& freed_early() {
  static auto* const made = new freed_communicators;
  return *made;
}

/// Closes it unless a message request still uses it; false then.
bool try_to_close(communicator& freed) noexcept {
  bool used = false;
  pool<message_request>::all().for_each(
      [&](message_request& each) { used = used || each.uses(freed); });
  if (!used) freed.drop_user();
  return !used;
}

}  // namespace

namespace {

int node_of(processes::peer_id process) { return the_library.runtime->node_of(process); }

}  // namespace

bool are_of_job(const processes::membership& members) {
  const auto& job = *the_library.runtime->job_members();
  return std::ranges::all_of(members.peers(),
                             [&](processes::peer_id process) { return job.contains(process); });
}

bool spans_nodes(const processes::membership& members) {
  return std::ranges::any_of(members.peers(), [&](processes::peer_id process) {
    return node_of(process) != node_of(members[0]);
  });
}

namespace {

processes::membership_ref both(const processes::membership& local,
                               const communicator::remote_side& remote) {
  std::vector<processes::peer_id> all;
  all.reserve(static_cast<std::size_t>(local.size()) +
              static_cast<std::size_t>(remote.members->size()));
  const auto append = [&](const processes::membership& group) {
    for (const auto process : group.peers()) all.push_back(process);
  };
  append(remote.is_first ? *remote.members : local);
  append(remote.is_first ? local : *remote.members);
  return memberships().intern(all);
}

}  // namespace

communicator::communicator(processes::membership_ref members, int rank, std::string given,
                           std::optional<remote_side> other)
    : name(std::move(given)),
      members_(std::move(members)),
      remote_(std::move(other)),
      everybody_(remote_ ? both(*members_, *remote_) : members_),
      rank_(rank),
      size_(members_->size()),
      peer_count_(remote_ ? remote_->members->size() : size_) {
  HEADWAY_ASSERT(0 <= rank && rank < size_);
}

communicator::~communicator() {
  if (!open_) return;
  team_.reset();
  exchange().close_context(messages_);
  exchange().close_context(collective_);
  all_context_ids().give_back(id_);
}

void communicator::open(std::uint32_t id, std::uint64_t incarnation) {
  HEADWAY_ASSERT(!open_ && id < messages::context_pair::count);
  id_ = id;
  note_incarnation(incarnation);
  const auto& reachable = remote_ ? remote_->members : members_;
  messages_ = exchange().open_context(2 * id, rank_, reachable, false);
  collective_ =
      exchange().open_context({2 * id + 1, incarnation}, rank_among_all(), everybody_, true);
  auto& runtime = *the_library.runtime;
  team_.emplace(exchange(), *collective_,
                collectives::exchange_team::surroundings{
                    .memory = {.slots = runtime.shm_slots(), .copies = runtime.node_memory()},
                    .oversubscribed = runtime.outnumber_processors(*everybody_),
                    .nodes = {.only_one = !spans_nodes(*everybody_),
                              // Both groups of an inter-communicator are not used as one team.
                              .number_of = is_inter() ? nullptr : node_of},
                    .chosen_by_user = the_library.collectives,
                    .neighbors = topology && topology->is_consistent()
                                     ? std::optional(topology->neighborhood())
                                     : std::nullopt,
                    .measured = runtime.tuned_for(*everybody_)});
  open_ = true;
  for (const auto& [key, value] : hints.all()) follow_hint(*this, key, value);
}

void communicator::set_urgent(bool is) noexcept {
  for (auto* side : {messages_, collective_}) messages::exchange::set_urgent(*side, is);
}

int communicator::source_count() const noexcept {
  return topology ? static_cast<int>(topology->neighborhood().sources.size()) : 0;
}

int communicator::destination_count() const noexcept {
  return topology ? static_cast<int>(topology->neighborhood().destinations.size()) : 0;
}

void communicator::drop_user() noexcept {
  // (G) release: this user's accesses are over; (D) acquire: so are those of all others.
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) pool<communicator>::all().drop(this);
}

void reap_communicators() noexcept {
  auto& freed = freed_early();
  std::vector<communicator*> again;
  {
    const base::lock_guard held(freed.lock);
    again.swap(freed.in_use);
  }
  for (communicator* each : again) {
    if (try_to_close(*each)) continue;
    const base::lock_guard held(freed.lock);
    freed.in_use.push_back(each);
  }
}

void free_communicator(communicator& freed) noexcept {
  reap_communicators();
  freed.retire();
  if (try_to_close(freed)) return;
  auto& others = freed_early();
  const base::lock_guard held(others.lock);
  others.in_use.push_back(&freed);
}

}  // namespace headway::mpi
