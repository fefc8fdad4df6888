#include "mpi/sessions/session_calls.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/communicators/creation.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"

namespace headway::mpi::calls {
namespace {

// The sets that each process has. Those of node and socket are other ones on other nodes and
// sockets, as mpi://SELF is; a process that is bound to no socket alone has no set of that name.
constexpr std::string_view world_set = "mpi://WORLD", self_set = "mpi://SELF",
                           node_set = "headway://node", socket_set = "headway://socket";

/// Names are URIs of a scheme and a host, which are not case-sensitive.
bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// The processes of the job that are in the same place as this one.
template <class PlaceOf>
processes::membership_ref members_beside(PlaceOf place_of) {
  std::vector<processes::peer_id> found;
  for (const auto process : the_library.job->members().peers())
    if (place_of(process) == place_of(this_process())) found.push_back(process);
  return memberships().intern(processes::membership(found));
}

bool has_socket() { return the_library.runtime->package_of(this_process()) >= 0; }

/// The processes of a process set; null: there is no such set.
processes::membership_ref members_of(std::string_view set) {
  const auto& where = *the_library.runtime;
  if (same_name(set, world_set)) return the_library.job->shared_members();
  if (same_name(set, self_set))
    return memberships().intern(processes::membership(this_process(), 1));
  if (same_name(set, node_set))
    return members_beside([&](auto process) { return where.node_of(process); });
  if (same_name(set, socket_set) && has_socket())
    return members_beside(
        [&](auto process) { return std::pair(where.node_of(process), where.package_of(process)); });
  return nullptr;
}

std::vector<std::string_view> set_names() {
  std::vector<std::string_view> names = {world_set, self_set, node_set};
  if (has_socket()) names.push_back(socket_set);
  return names;
}

int no_such_set(const char* name) {
  return fail(MPI_ERR_ARG, "there is no process set '{}'", name);
}

}  // namespace

int session_init(info* hints, errhandler& handler, session*& made) {
  if (!handler.fits(object_kind::session)) {
    return fail(MPI_ERR_ERRHANDLER, "the error handler was made for objects of another kind");
  }
  if (const int code = open_session()) return code;
  made = pool<session>::all().make();
  made->handler = errhandler_ref(handler);
  made->hints.emplace_back("thread_level", "MPI_THREAD_MULTIPLE");
  (void)hints;  // every session has MPI_THREAD_MULTIPLE
  return MPI_SUCCESS;
}

int session_finalize(session*& which) {
  which->buffer.reset();  // waits until its messages are sent
  pool<session>::all().drop(which);
  which = nullptr;
  return close_session();
}

int session_get_info(session& which, info*& made) {
  made = pool<info>::all().make(which.hints);
  return MPI_SUCCESS;
}

int session_get_num_psets(session&, info*, int& count) {
  count = static_cast<int>(set_names().size());
  return MPI_SUCCESS;
}

int session_get_nth_pset(session&, info*, int n, int& length, char* name) {
  const auto names = set_names();
  if (n < 0 || n >= static_cast<int>(names.size())) {
    return fail(MPI_ERR_ARG, "argument 3 (n) is {}, but there are {} process sets", n,
                names.size());
  }
  const std::string_view text = names[static_cast<std::size_t>(n)];
  if (length > 0 && name != nullptr) {
    const auto copied = std::min(text.size(), static_cast<std::size_t>(length - 1));
    std::memcpy(name, text.data(), copied);
    name[copied] = '\0';
  }
  length = static_cast<int>(text.size()) + 1;
  return MPI_SUCCESS;
}

int session_get_pset_info(session&, const char* name, info*& made) {
  const auto members = members_of(name);
  if (!members) return no_such_set(name);
  made = pool<info>::all().make();
  made->set("mpi_size", std::to_string(members->size()));
  return MPI_SUCCESS;
}

int group_from_session_pset(session&, const char* name, group*& made) {
  auto members = members_of(name);
  if (!members) return no_such_set(name);
  made = make_group(std::move(members));
  return MPI_SUCCESS;
}

int comm_create_from_group(group& members, const char* stringtag, info* hints, errhandler& handler,
                           communicator*& made) {
  if (members.size() == 0) return MPI_SUCCESS;
  if (members.rank() == MPI_UNDEFINED) {
    return fail(MPI_ERR_GROUP, "argument 1 (group) does not have this process");
  }
  if (!handler.fits(object_kind::comm)) {
    return fail(MPI_ERR_ERRHANDLER, "the error handler was made for objects of another kind");
  }
  made = make_communicator(*the_library.job, members.shared_members(), members.rank());
  made->handler = errhandler_ref(handler);
  if (hints != nullptr) made->hints = hints->entries();
  return agree_and_open(*the_library.job, members.shared_members(), agreement_tag_of(stringtag),
                        made);
}

}  // namespace headway::mpi::calls
