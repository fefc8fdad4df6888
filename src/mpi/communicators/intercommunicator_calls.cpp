#include "mpi/communicators/intercommunicator_calls.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/schedule_run.hpp"
#include "mpi/communicators/creation.hpp"
#include "mpi/communicators/hints.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi::calls {
namespace {

int refuse_intra() { return fail(MPI_ERR_COMM, "argument 1 (comm) is no inter-communicator"); }

// ---- what the leaders of MPI_Intercomm_create tell each other and their groups ------------------

/// Processes are named by their ranks in the job: other processes have other indices for them.
using job_ranks = std::vector<int>;

job_ranks ranks_of(const processes::membership& members) {
  job_ranks made;
  made.reserve(static_cast<std::size_t>(members.size()));
  for (const auto process : members.peers())
    made.push_back(*the_library.job->members().rank_of(process));
  return made;
}

processes::membership_ref group_of(const job_ranks& ranks) {
  std::vector<processes::peer_id> members;
  members.reserve(ranks.size());
  for (const int rank : ranks) members.push_back(the_library.job->members()[rank]);
  return memberships().intern(members);
}

/// What a leader learns of the other group: goes to its own group before the list of its ranks.
struct introduction {
  int code = MPI_SUCCESS;  ///< why there is no other group
  int size = 0;            ///< of the other group
  int is_first = 0;        ///< see communicator::remote_side
  int tag = 0;             ///< for the agreement of both groups
};

/// Exchanges `mine` for `theirs` with one process of the communicator. False: it is gone.
bool swap_with(communicator& comm, int rank_among_all, int tag, std::span<const std::byte> mine,
               std::span<std::byte> theirs) {
  messages::request to, from;
  exchange().receive(comm.collective(), from, theirs, rank_among_all, tag);
  exchange().send(comm.collective(), to, mine, rank_among_all, tag);
  engine().wait(from);
  engine().wait(to);
  return from.arrived.how == messages::outcome::ok && to.arrived.how == messages::outcome::ok &&
         from.arrived.bytes == theirs.size();
}

/// The leader's part: learns the other group from its leader.
introduction meet(communicator& local, communicator& peer, int remote_leader, int tag,
                  job_ranks& others) {
  const auto mine = ranks_of(local.members());
  const int there = peer.first_remote() + remote_leader;
  const int here = peer.rank_among_all();
  const int wire_tag = messages::group_agreement_tags.of(static_cast<std::uint32_t>(tag));
  const int size = local.size();
  introduction known{.is_first = there < here};
  if (!swap_with(peer, there, wire_tag, std::as_bytes(std::span(&size, 1)),
                 std::as_writable_bytes(std::span(&known.size, 1)))) {
    return {.code = MPI_ERR_PROC_ABORTED};
  }
  others.resize(static_cast<std::size_t>(known.size));
  if (!swap_with(peer, there, wire_tag, std::as_bytes(std::span(mine)),
                 std::as_writable_bytes(std::span(others)))) {
    return {.code = MPI_ERR_PROC_ABORTED};
  }
  // The same on both sides, and another one for what other leaders do at the same time.
  const int leaders[] = {static_cast<int>(peer.id()), tag, std::min(here, there),
                         std::max(here, there)};
  known.tag = agreement_tag_of({reinterpret_cast<const char*>(leaders), sizeof leaders});
  return known;
}

/// Waits. False: a process is gone.
bool tell_group(communicator& comm, int root, std::span<std::byte> data) {
  collectives::schedule_run steps;
  const collectives::block all{data.data(), static_cast<std::int64_t>(data.size()),
                               &datatypes::layout::of(datatypes::number::uint8)};
  collectives::bcast(steps, comm.team(), all, root);
  steps.bind(comm.team(), {.what = collectives::collective::intercomm_create, .root = root});
  return steps.run() == messages::outcome::ok;
}

/// Makes and opens the inter-communicator of two groups that all their processes know.
int connect(communicator& local_side, processes::membership_ref local, int rank,
            communicator::remote_side other, int tag, communicator*& made) {
  const auto in_local = [&](processes::peer_id process) { return local->contains(process); };
  if (std::ranges::any_of(other.members->peers(), in_local))
    return fail(MPI_ERR_COMM, "the two groups have a process in common");
  made = make_communicator(local_side, std::move(local), rank, std::move(other));
  return agree_and_open(*the_library.job, made->everybody(), tag, made);
}

int check_leader(int leader, int size, const char* argument) {
  if (0 <= leader && leader < size) return MPI_SUCCESS;
  return fail(MPI_ERR_RANK, "{} is {}, but the group has ranks 0 to {}", argument, leader,
              size - 1);
}

}  // namespace

int comm_test_inter(communicator& comm, int& flag) {
  flag = comm.is_inter();
  return MPI_SUCCESS;
}

int comm_remote_size(communicator& comm, int& size) {
  if (!comm.is_inter()) return refuse_intra();
  size = comm.remote().members->size();
  return MPI_SUCCESS;
}

int comm_remote_group(communicator& comm, group*& made) {
  if (!comm.is_inter()) return refuse_intra();
  made = make_group(comm.remote().members, comm.origin);
  return MPI_SUCCESS;
}

int intercomm_create(communicator& local, int local_leader, communicator* peer, int remote_leader,
                     int tag, communicator*& made) {
  if (const int code = check_leader(local_leader, local.size(), "argument 2 (local_leader)"))
    return code;
  introduction known;
  job_ranks others;
  std::string why = "the leader of this group could not reach that of the other one";
  if (local.rank() == local_leader) {
    if (peer == nullptr) {
      known.code = MPI_ERR_COMM;
      why = "argument 3 (peer_comm) is MPI_COMM_NULL";
    } else if (!peer->has_rank(remote_leader)) {
      known.code = MPI_ERR_RANK;
      why = fmt::format("argument 4 (remote_leader) is {}, which is no rank of argument 3",
                        remote_leader);
    } else {
      known = meet(local, *peer, remote_leader, tag, others);
    }
  }
  if (!tell_group(local, local_leader, std::as_writable_bytes(std::span(&known, 1))))
    return fail(MPI_ERR_PROC_ABORTED, "a process of the communicator is gone");
  if (known.code != MPI_SUCCESS) return fail_with(known.code, why);
  others.resize(static_cast<std::size_t>(known.size));
  if (!tell_group(local, local_leader, std::as_writable_bytes(std::span(others))))
    return fail(MPI_ERR_PROC_ABORTED, "a process of the communicator is gone");
  return connect(local, local.shared_members(), local.rank(),
                 {.members = group_of(others), .is_first = known.is_first != 0}, known.tag, made);
}

int intercomm_create_from_groups(group& local, int local_leader, group& remote, int remote_leader,
                                 const char* stringtag, info* hints, errhandler& handler,
                                 communicator*& made) {
  if (local.size() == 0 || remote.size() == 0) return MPI_SUCCESS;
  if (local.rank() == MPI_UNDEFINED)
    return fail(MPI_ERR_GROUP, "argument 1 (local_group) does not have this process");
  if (!handler.fits(object_kind::comm))
    return fail(MPI_ERR_ERRHANDLER, "the error handler was made for objects of another kind");
  if (const int code = check_leader(local_leader, local.size(), "argument 2 (local_leader)"))
    return code;
  if (local.rank() == local_leader) {
    if (const int code = check_leader(remote_leader, remote.size(), "argument 4 (remote_leader)"))
      return code;
  }
  const auto& job = the_library.job->members();
  const bool is_first = job.rank_of(remote.members()[0]) < job.rank_of(local.members()[0]);
  if (const int code = connect(*the_library.job, local.shared_members(), local.rank(),
                               {.members = remote.shared_members(), .is_first = is_first},
                               agreement_tag_of(stringtag), made))
    return code;
  made->handler = errhandler_ref(handler);
  made->origin = local.origin();
  set_hints(*made, hints);
  return MPI_SUCCESS;
}

int intercomm_merge(communicator& comm, int high, communicator*& made) {
  if (!comm.is_inter()) return refuse_intra();
  const int mine = high != 0;
  std::vector<std::byte> gathered;
  if (!gather_from_all(comm, comm.next_agreement_tag(), std::as_bytes(std::span(&mine, 1)),
                       gathered))
    return fail(MPI_ERR_PROC_ABORTED, "a process of the communicator is gone");
  std::vector<int> all(static_cast<std::size_t>(comm.everybody()->size()));
  std::memcpy(all.data(), gathered.data(), gathered.size());
  // The first group comes first unless it alone asks to be high.
  const int size_of_first = comm.first_local() + comm.first_remote();
  const int first_high = all.front(), last_high = all.back();
  const bool swapped = first_high > last_high;
  std::vector<processes::peer_id> members;
  members.reserve(all.size());
  for (const auto process : comm.everybody()->peers()) members.push_back(process);
  if (swapped) std::ranges::rotate(members, members.begin() + size_of_first);
  auto merged = memberships().intern(members);
  const int rank = *merged->rank_of(this_process());
  made = make_communicator(comm, std::move(merged), rank);
  return agree_and_open(comm, made);
}

}  // namespace headway::mpi::calls
