#include "mpi/meaning_communicators.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include "base/log.hpp"
#include "mpi/context_ids.hpp"
#include "mpi/failure.hpp"
#include "mpi/library.hpp"
#include "mpi/making_communicators.hpp"
#include "mpi/message_request.hpp"
#include "mpi/pool.hpp"
#include "mpi/status.hpp"

namespace headway::mpi {
namespace {

/// MPI_Comm_idup: the agreement goes on by itself; the communicator is opened by who waits for it,
/// because opening takes locks that a polling thread may hold.
class dup_request final : public request {
 public:
  dup_request(communicator& parent, communicator& new_one)
      : parent_(parent),
        made_(new_one),
        agreement_(parent, everybody(parent), parent.rank(), next_agreement_tag(parent)) {
    comm = &parent;
    pending = &agreement_.done;
    agreement_.start();
  }

  int finish(MPI_Status& status) override {
    set_status_done(status);
    if (agreement_.id() == context_id_none) {
      return fail(MPI_ERR_OTHER, "the processes could not agree on a context");
    }
    if (!made_.is_open()) made_.open(agreement_.id());
    return MPI_SUCCESS;
  }
  void release() noexcept override { pool<dup_request>::all().drop(this); }

 private:
  static std::vector<int> everybody(const communicator& comm) {
    std::vector<int> all(static_cast<std::size_t>(comm.size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  communicator_ref parent_;
  communicator& made_;
  context_agreement agreement_;
};

/// Ranks in `comm` of the members of `which`; an error code if one is no member.
int ranks_in(const communicator& comm, const group& which, std::vector<int>& ranks) {
  const group all(comm.shared_members());
  for (const std::uint32_t process : which.members()) {
    const int rank = all.rank_of(process);
    if (rank == MPI_UNDEFINED) {
      return fail(MPI_ERR_GROUP,
                  "argument 2 (group) has a process that is not in the communicator");
    }
    ranks.push_back(rank);
  }
  return MPI_SUCCESS;
}

struct split_entry {
  int color;
  int key;
};

/// The part of a split that this process is in: its processes in order of key and old rank.
std::shared_ptr<member_list> my_part(const communicator& comm, std::span<const split_entry> all,
                                     int& rank) {
  const split_entry mine = all[static_cast<std::size_t>(comm.rank())];
  std::vector<int> ranks;
  for (int i = 0; i < comm.size(); ++i) {
    if (all[static_cast<std::size_t>(i)].color == mine.color) ranks.push_back(i);
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return all[static_cast<std::size_t>(a)].key < all[static_cast<std::size_t>(b)].key;
  });
  auto members = std::make_shared<member_list>();
  for (const int each : ranks) {
    if (each == comm.rank()) rank = static_cast<int>(members->size());
    members->push_back(comm.members()[static_cast<std::size_t>(each)]);
  }
  return members;
}

/// Splits by color; a negative one is MPI_UNDEFINED here.
int split(communicator& comm, int color, int key, communicator*& made) {
  const split_entry mine{color, key};
  std::vector<std::byte> gathered;
  if (!gather_from_all(comm, next_agreement_tag(comm), std::as_bytes(std::span(&mine, 1)),
                       gathered)) {
    return fail(MPI_ERR_PROC_ABORTED, "a process of the communicator is gone");
  }
  std::vector<split_entry> all(static_cast<std::size_t>(comm.size()));
  std::memcpy(all.data(), gathered.data(), gathered.size());
  if (color != MPI_UNDEFINED) {
    int rank = 0;
    auto members = my_part(comm, all, rank);
    made = make_communicator(comm, std::move(members), rank);
  }
  return agree_and_open(comm, made);
}

bool spans_nodes(const communicator& comm) {
  const auto node = [](std::uint32_t process) {
    return the_library.runtime->node_of(static_cast<int>(process));
  };
  return std::any_of(comm.members().begin(), comm.members().end(), [&](std::uint32_t each) {
    return node(each) != node(comm.members().front());
  });
}

/// The color for a split by hardware; MPI_UNDEFINED where there is nothing to split by.
int hardware_color(const communicator& comm, int split_type, const info* hints) {
  const int node = the_library.runtime->node_of(the_library.runtime->rank());
  if (split_type == MPI_COMM_TYPE_SHARED) return node;
  if (split_type == MPI_COMM_TYPE_HW_UNGUIDED) return spans_nodes(comm) ? node : MPI_UNDEFINED;
  const auto wanted = hints ? hints->get("mpi_hw_resource_type") : std::nullopt;
  return wanted == "mpi_shared_memory" ? node : MPI_UNDEFINED;
}

/// False, and said in one line: nobody could follow it, and it is not kept.
bool can_follow(const communicator& comm, const std::string& key, const std::string& value) {
  if (key != strategy_hint) return true;
  const auto names = messages::exchange::strategy_names();
  if (std::ranges::find(names, value) != names.end()) return true;
  base::log(base::severity::warning,
            "{} of communicator '{}' is '{}', which is no strategy; there are: {}", key, comm.name,
            value, fmt::join(names, ", "));
  return false;
}

void set_hints(communicator& comm, const info* hints) {
  if (hints == nullptr) return;
  for (const auto& [key, value] : hints->entries()) {
    if (!can_follow(comm, key, value)) continue;
    const auto at = std::find_if(comm.hints.begin(), comm.hints.end(),
                                 [&](const auto& each) { return each.first == key; });
    if (at != comm.hints.end()) {
      at->second = value;
    } else {
      comm.hints.emplace_back(key, value);
    }
  }
  comm.follow_hints();
}

/// A copy with attributes, not open yet.
int copy(communicator& comm, info* hints, communicator*& made) {
  made = make_communicator(comm, comm.shared_members(), comm.rank());
  set_hints(*made, hints);
  const int code = made->attributes.copy_from(comm, comm.attributes);
  if (code != MPI_SUCCESS) {
    made->drop_user();
    made = nullptr;
  }
  return code;
}

}  // namespace

namespace meaning {

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
  } else if (comm1.members() == comm2.members()) {
    result = MPI_CONGRUENT;
  } else {
    member_list first = comm1.members(), second = comm2.members();
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    result = first == second ? MPI_SIMILAR : MPI_UNEQUAL;
  }
  return MPI_SUCCESS;
}

int comm_group(communicator& comm, group*& made) {
  made = make_group(comm.shared_members());
  return MPI_SUCCESS;
}

int comm_test_inter(communicator&, int& flag) {
  flag = 0;
  return MPI_SUCCESS;
}

int comm_remote_size(communicator&, int&) {
  return fail(MPI_ERR_COMM, "argument 1 (comm) is no inter-communicator");
}

int comm_remote_group(communicator&, group*&) {
  return fail(MPI_ERR_COMM, "argument 1 (comm) is no inter-communicator");
}

int comm_get_parent(communicator*& parent) {
  parent = nullptr;  // no process is spawned yet
  return MPI_SUCCESS;
}

int comm_dup(communicator& comm, communicator*& made) {
  return comm_dup_with_info(comm, nullptr, made);
}

int comm_dup_with_info(communicator& comm, info* hints, communicator*& made) {
  // A failed callback is local, the agreement is everybody's: take part, then give it back.
  const int code = copy(comm, hints, made);
  if (const int agreed = agree_and_open(comm, made)) return agreed;
  return code;
}

int comm_idup(communicator& comm, communicator*& made, request*& r) {
  return comm_idup_with_info(comm, nullptr, made, r);
}

int comm_idup_with_info(communicator& comm, info* hints, communicator*& made, request*& r) {
  if (const int code = copy(comm, hints, made)) return code;
  r = pool<dup_request>::all().make(comm, *made);
  return MPI_SUCCESS;
}

int comm_create(communicator& comm, group& members, communicator*& made) {
  std::vector<int> ranks;
  if (const int code = ranks_in(comm, members, ranks)) return code;
  if (members.rank() != MPI_UNDEFINED) {
    made = make_communicator(comm, members.shared_members(), members.rank());
  }
  return agree_and_open(comm, made);
}

int comm_create_group(communicator& comm, group& members, int tag, communicator*& made) {
  std::vector<int> ranks;
  if (const int code = ranks_in(comm, members, ranks)) return code;
  if (members.rank() == MPI_UNDEFINED) return MPI_SUCCESS;
  made = make_communicator(comm, members.shared_members(), members.rank());
  return agree_and_open(comm, std::move(ranks), members.rank(), tag, made);
}

int comm_split(communicator& comm, int color, int key, communicator*& made) {
  if (color < 0 && color != MPI_UNDEFINED) {
    return fail(MPI_ERR_ARG, "argument 2 (color) is {}, but must not be negative", color);
  }
  return split(comm, color, key, made);
}

int comm_split_type(communicator& comm, int split_type, int key, info* hints, communicator*& made) {
  switch (split_type) {
    case MPI_UNDEFINED:
      return split(comm, MPI_UNDEFINED, key, made);
    case MPI_COMM_TYPE_SHARED:
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      return split(comm, hardware_color(comm, split_type, hints), key, made);
    default:
      return fail(MPI_ERR_ARG, "argument 2 (split_type) is {}, which is no split type", split_type);
  }
}

int comm_free(communicator*& comm) {
  if (comm->is_predefined()) return fail(MPI_ERR_COMM, "{} cannot be freed", comm->name);
  if (const int code = comm->attributes.clear(*comm)) return code;
  comm->buffer.reset();  // sends what is in it first
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
  hints = pool<info>::all().make(comm.hints);
  if (!comm.is_open()) return MPI_SUCCESS;
  hints->set(strategy_hint, messages::exchange::strategy_of(comm.messages()));
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

}  // namespace meaning
}  // namespace headway::mpi
