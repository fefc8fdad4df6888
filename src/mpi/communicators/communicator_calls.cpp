#include "mpi/communicators/communicator_calls.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "mpi/communicators/context_agreement.hpp"
#include "mpi/communicators/creation.hpp"
#include "mpi/communicators/hardware_split.hpp"
#include "mpi/communicators/hints.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/message_request.hpp"
#include "mpi/sessions/memory_kinds.hpp"
#include "mpi/sessions/process_sets.hpp"

namespace headway::mpi {
namespace {

/// The request of MPI_Comm_idup. The agreement progresses in the background. `finish` opens the
/// communicator, in the thread that completes the request, because opening takes locks that a
/// polling thread may hold.
class dup_request final : public request {
 public:
  dup_request(communicator& parent, communicator& new_one)
      : parent_(parent),
        made_(new_one),
        agreement_(parent, parent.everybody(), parent.next_agreement_tag()) {
    comm = &parent;
    pending = &agreement_.done;
    agreement_.start();
  }

  int finish(MPI_Status& status) override {
    set_status_done(status);
    if (agreement_.id() == context_id_none) {
      return fail(MPI_ERR_OTHER, "the processes could not agree on a context");
    }
    if (!made_.is_open()) made_.open(agreement_.id(), agreement_.incarnation());
    return MPI_SUCCESS;
  }
  void release() noexcept override { pool<dup_request>::all().drop(this); }

 private:
  communicator_ref parent_;
  communicator& made_;
  context_agreement agreement_;
};

static_assert(MPI_CONGRUENT < MPI_SIMILAR && MPI_SIMILAR < MPI_UNEQUAL);

/// An error code if a process of `which` is not a member of `comm`.
int check_inside(const communicator& comm, const group& which) {
  const auto inside = [&](processes::peer_id process) { return comm.members().contains(process); };
  if (std::ranges::all_of(which.members().peers(), inside)) return MPI_SUCCESS;
  return fail(MPI_ERR_GROUP, "argument 2 (group) has a process that is not in the communicator");
}

struct split_entry {
  int color;
  int key;
};

/// The processes of one group that have this color, in order of key and old rank. `all` has the
/// entries of that group.
processes::membership_ref part_of(const processes::membership& group,
                                  std::span<const split_entry> all, int color) {
  std::vector<int> ranks;
  for (int i = 0; i < group.size(); ++i) {
    if (all[static_cast<std::size_t>(i)].color == color) ranks.push_back(i);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return all[static_cast<std::size_t>(a)].key < all[static_cast<std::size_t>(b)].key;
  });
  std::vector<processes::peer_id> members;
  members.reserve(ranks.size());
  for (const int each : ranks) members.push_back(group[each]);
  return memberships().intern(members);
}

/// The values of all members, in the order of `everybody`.
template <class T>
int gather(communicator& comm, const T& mine, std::vector<T>& all) {
  std::vector<std::byte> gathered;
  if (!gather_from_all(comm, comm.next_agreement_tag(), std::as_bytes(std::span(&mine, 1)),
                       gathered)) {
    return fail(MPI_ERR_PROC_ABORTED, "a process of the communicator is gone");
  }
  all.resize(static_cast<std::size_t>(comm.everybody()->size()));
  std::memcpy(all.data(), gathered.data(), gathered.size());
  return MPI_SUCCESS;
}

/// Makes a communicator of each color; processes with MPI_UNDEFINED get none, nor do those whose
/// color no process of the remote group has.
int split(communicator& comm, std::span<const split_entry> all, communicator*& made) {
  const auto entries_of = [&](int first, int count) {
    return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  };
  const int color = all[static_cast<std::size_t>(comm.rank_among_all())].color;
  if (color != MPI_UNDEFINED) {
    auto local = part_of(comm.members(), entries_of(comm.first_local(), comm.size()), color);
    std::optional<communicator::remote_side> other;
    if (comm.is_inter()) {
      other = comm.remote();
      other->members = part_of(*comm.remote().members,
                               entries_of(comm.first_remote(), comm.peer_count()), color);
    }
    const int rank = *local->rank_of(this_process());
    if (!other || !other->members->empty())
      made = make_communicator(comm, std::move(local), rank, std::move(other));
  }
  return agree_and_open(comm, made);
}

/// MPI_Comm_create of an inter-communicator: the processes of `members`, and those of the group
/// that the remote side passes.
int create_inter(communicator& comm, const group& members, communicator*& made) {
  // A split whose key is the rank in the group.
  const int rank = members.rank();
  const split_entry mine{rank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, rank};
  std::vector<split_entry> all;
  if (const int code = gather(comm, mine, all)) return code;
  return split(comm, all, made);
}

/// The rank in the job of the first member of this process's set of that name; -1: it is in none.
int first_of_set(std::string_view name) {
  const auto members = process_set(name);
  return members ? the_library.job->members().rank_of((*members)[0]).value_or(-1) : -1;
}

int split_by_hardware(communicator& comm, int split_type, int key, info* hints,
                      communicator*& made) {
  const auto hint = [&](std::string_view name) { return hints ? hints->get(name) : std::nullopt; };
  auto resource = hint(resource_hint).value_or("");
  hardware_entry mine{.split_type = split_type, .key = key, .bound = topology::binding::own()};
  const auto set = hint(process_set_resource);
  if (set && resource.empty() && split_type == MPI_COMM_TYPE_RESOURCE_GUIDED) {
    resource = process_set_resource;
    mine.set_first = first_of_set(*set);
  }
  std::vector<hardware_entry> all;
  if (const int code = gather(comm, mine, all)) return code;
  for (int rank = 0; rank < comm.size(); ++rank)  // other processes may have other numbers
    all[static_cast<std::size_t>(rank)].node = the_library.runtime->node_of(comm.members()[rank]);
  const auto colors = hardware_colors(all, resource);
  std::vector<split_entry> parts;
  for (std::size_t i = 0; i < all.size(); ++i) parts.push_back({colors[i], all[i].key});
  const int code = split(comm, parts, made);
  if (made && hints && !hints->is_predefined() && split_type == MPI_COMM_TYPE_HW_UNGUIDED)
    hints->set(resource_hint, dividing_resource(all));
  if (made) set_hints(*made, hints);
  return code;
}

/// A copy with attributes and topology, not open yet.
int copy(communicator& comm, info* hints, communicator*& made) {
  made = make_communicator(comm, comm.shared_members(), comm.rank(),
                           comm.is_inter() ? std::optional(comm.remote()) : std::nullopt);
  made->topology = comm.topology;
  set_hints(*made, hints);
  const int code = made->attributes.copy_from(comm, comm.attributes);
  if (code != MPI_SUCCESS) {
    made->drop_user();
    made = nullptr;
  }
  return code;
}

}  // namespace

namespace calls {

int comm_size(communicator& comm, int& size) {
  size = comm.size();
  return MPI_SUCCESS;
}

int comm_rank(communicator& comm, int& rank) {
  rank = comm.rank();
  return MPI_SUCCESS;
}

int comm_compare(communicator& comm1, communicator& comm2, int& result) {
  if (&comm1 == &comm2) {
    result = MPI_IDENT;
  } else if (comm1.is_inter() != comm2.is_inter()) {
    result = MPI_UNEQUAL;
  } else {
    result = compare(comm1.members(), comm2.members(), MPI_CONGRUENT);
    if (comm1.is_inter()) {  // the greater of the two is the weaker: see the static_assert
      result = std::max(result,
                        compare(*comm1.remote().members, *comm2.remote().members, MPI_CONGRUENT));
    }
  }
  return MPI_SUCCESS;
}

int comm_group(communicator& comm, group*& made) {
  made = make_group(comm.shared_members(), comm.origin);
  return MPI_SUCCESS;
}

int comm_get_parent(communicator*& parent) {
  parent = nullptr;  // MPI_COMM_NULL: dynamic processes are not implemented
  return MPI_SUCCESS;
}

int comm_dup(communicator& comm, communicator*& made) {
  return calls::comm_dup_with_info(comm, nullptr, made);
}

int comm_dup_with_info(communicator& comm, info* hints, communicator*& made) {
  // A copy callback fails in this process alone, but all members must take part in the agreement.
  const int code = copy(comm, hints, made);
  if (const int agreed = agree_and_open(comm, made)) return agreed;
  return code;
}

int comm_idup(communicator& comm, communicator*& made, request*& r) {
  return calls::comm_idup_with_info(comm, nullptr, made, r);
}

int comm_idup_with_info(communicator& comm, info* hints, communicator*& made, request*& r) {
  if (const int code = copy(comm, hints, made)) return code;
  r = pool<dup_request>::all().make(comm, *made);
  return MPI_SUCCESS;
}

int comm_create(communicator& comm, group& members, communicator*& made) {
  if (const int code = check_inside(comm, members)) return code;
  if (comm.is_inter()) return create_inter(comm, members, made);
  if (members.rank() != MPI_UNDEFINED) {
    made = make_communicator(comm, members.shared_members(), members.rank());
  }
  return agree_and_open(comm, made);
}

int comm_create_group(communicator& comm, group& members, int tag, communicator*& made) {
  if (const int code = check_inside(comm, members)) return code;
  if (members.rank() == MPI_UNDEFINED) return MPI_SUCCESS;
  made = make_communicator(comm, members.shared_members(), members.rank());
  return agree_and_open(comm, members.shared_members(), tag, made);
}

int comm_split(communicator& comm, int color, int key, communicator*& made) {
  if (color < 0 && color != MPI_UNDEFINED) {
    return fail(MPI_ERR_ARG, "argument 2 (color) is {}, but must not be negative", color);
  }
  std::vector<split_entry> all;
  if (const int code = mpi::gather(comm, split_entry{color, key}, all)) return code;
  return split(comm, all, made);
}

int comm_split_type(communicator& comm, int split_type, int key, info* hints, communicator*& made) {
  switch (split_type) {
    case MPI_UNDEFINED:
    case MPI_COMM_TYPE_SHARED:
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      return split_by_hardware(comm, split_type, key, hints, made);
    default:
      return fail(MPI_ERR_ARG, "argument 2 (split_type) is {}, which is no split type", split_type);
  }
}

int comm_free(communicator*& comm) {
  if (comm->is_predefined()) return fail(MPI_ERR_COMM, "{} cannot be freed", comm->name);
  if (const int code = comm->attributes.clear(*comm)) return code;
  comm->buffer.detach();  // waits until its messages are sent
  free_communicator(*comm);
  comm = nullptr;
  return MPI_SUCCESS;
}

int comm_disconnect(communicator*& comm) {
  const auto busy = [&] {
    bool found = false;
    pool<message_request>::all().for_each([&](message_request& each) {
      found = found || (each.uses(*comm) && each.active && !each.is_complete());
    });
    return found;
  };
  while (busy()) engine().poll();
  return comm_free(comm);
}

int comm_set_info(communicator& comm, info* hints) {
  set_hints(comm, hints);
  return MPI_SUCCESS;
}

int comm_get_info(communicator& comm, info*& hints) {
  hints = pool<info>::all().make(comm.hints.all());
  hints->set(memory_kinds_hint, memory_kinds_of(comm.origin));
  if (!comm.is_open()) return MPI_SUCCESS;
  hints->set(strategy_hint, messages::exchange::strategy_of(comm.messages()));
  hints->set(priority_hint, priority_names[comm.is_urgent()]);
  return MPI_SUCCESS;
}

int comm_set_name(communicator& comm, const char* name) {
  comm.name = std::string_view(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
  return MPI_SUCCESS;
}

int comm_get_name(communicator* comm, char* name, int& resultlen) {
  const std::string& text = comm == nullptr ? std::string("MPI_COMM_NULL") : comm->name;
  std::memcpy(name, text.c_str(), text.size() + 1);
  resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

}  // namespace calls
}  // namespace headway::mpi
