#include "mpi/communicators/intercommunicator_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "mpi/communicators/creation.hpp"
#include "mpi/communicators/group_meeting.hpp"
#include "mpi/communicators/hints.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi::calls {
namespace {

int refuse_intra() { return fail(MPI_ERR_COMM, "argument 1 (comm) is no inter-communicator"); }

/// The leaders of MPI_Intercomm_create, through the communicator that both are in.
class peer_channel final : public leaders_channel {
 public:
  peer_channel(communicator& peer, int remote_leader, int tag)
      : peer_(peer),
        there_(peer.first_remote() + remote_leader),
        here_(peer.rank_among_all()),
        tag_(tag) {}

  bool swap(std::span<const std::byte> mine, std::vector<std::byte>& theirs) override {
    const std::uint64_t size = mine.size();
    std::uint64_t their_size = 0;
    if (!swap_blocks(std::as_bytes(std::span(&size, 1)),
                     std::as_writable_bytes(std::span(&their_size, 1))))
      return false;
    theirs.resize(their_size);
    return swap_blocks(mine, theirs);
  }
  bool remote_is_first() const noexcept override { return there_ < here_; }
  std::uint32_t number() const noexcept override {
    const int leaders[] = {static_cast<int>(peer_.id()), tag_, std::min(here_, there_),
                           std::max(here_, there_)};
    return static_cast<std::uint32_t>(
        agreement_tag_of({reinterpret_cast<const char*>(leaders), sizeof leaders}));
  }

 private:
  bool swap_blocks(std::span<const std::byte> mine, std::span<std::byte> theirs) {
    const int tag = messages::group_agreement_tags.of(static_cast<std::uint32_t>(tag_));
    messages::request to, from;
    exchange().receive(peer_.collective(), from, theirs, there_, tag);
    exchange().send(peer_.collective(), to, mine, there_, tag);
    engine().wait(from);
    engine().wait(to);
    return from.arrived.how == messages::outcome::ok && to.arrived.how == messages::outcome::ok &&
           from.arrived.bytes == theirs.size();
  }

  communicator& peer_;
  const int there_, here_;  // both leaders' ranks in `peer_`
  const int tag_;
};

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
  meeting mine;
  std::optional<peer_channel> channel;
  if (local.rank() == local_leader) {
    if (peer == nullptr) {
      mine = {.code = MPI_ERR_COMM, .why = "argument 3 (peer_comm) is MPI_COMM_NULL"};
    } else if (!peer->has_rank(remote_leader)) {
      mine = {.code = MPI_ERR_RANK,
              .why = fmt::format("argument 4 (remote_leader) is {}, which is no rank of argument 3",
                                 remote_leader)};
    } else {
      mine.channel = &channel.emplace(*peer, remote_leader, tag);
    }
  }
  return meet_group(local, local_leader, mine, made);
}

int intercomm_create_from_groups(group& local, int local_leader, group& remote, int remote_leader,
                                 const char* stringtag, info* hints, errhandler& handler,
                                 communicator*& made) {
  if (local.size() == 0 || remote.size() == 0) return MPI_SUCCESS;
  if (local.rank() == MPI_UNDEFINED)
    return fail(MPI_ERR_GROUP, "argument 1 (local_group) does not have this process");
  if (!handler.fits(object_kind::comm))
    return fail(MPI_ERR_ERRHANDLER, "the error handler was made for objects of another kind");
  if (!are_of_job(local.members()) || !are_of_job(remote.members()))
    return fail(MPI_ERR_GROUP, "a group has a process of another job");
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
