#include "mpi/sessions/session_calls.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "mpi/communicators/creation.hpp"
#include "mpi/communicators/hints.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/sessions/memory_kinds.hpp"
#include "mpi/sessions/process_sets.hpp"

namespace headway::mpi::calls {
namespace {

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
  made->hints.emplace_back("thread_level", "MPI_THREAD_MULTIPLE");  // whatever `hints` says
  const auto requested = hints ? hints->get(memory_kinds_hint) : std::nullopt;
  made->origin->memory_kinds = supported_memory_kinds(requested.value_or(""));
  made->hints.emplace_back(memory_kinds_hint, made->origin->memory_kinds);
  return MPI_SUCCESS;
}

int session_finalize(session*& which) {
  which->origin->buffer.detach();  // waits until its messages are sent
  pool<session>::all().drop(which);
  which = nullptr;
  return close_session();
}

int session_get_info(session& which, info*& made) {
  made = pool<info>::all().make(which.hints);
  return MPI_SUCCESS;
}

int session_get_num_psets(session&, info*, int& count) {
  count = static_cast<int>(process_set_names().size());
  return MPI_SUCCESS;
}

int session_get_nth_pset(session&, info*, int n, int& length, char* name) {
  const auto names = process_set_names();
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
  const auto members = process_set(name);
  if (!members) return no_such_set(name);
  made = pool<info>::all().make();
  made->set("mpi_size", std::to_string(members->size()));
  return MPI_SUCCESS;
}

int group_from_session_pset(session& which, const char* name, group*& made) {
  auto members = process_set(name);
  if (!members) return no_such_set(name);
  made = make_group(std::move(members), which.origin);
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
  if (!are_of_job(members.members()))
    return fail(MPI_ERR_GROUP, "argument 1 (group) has a process of another job");
  made = make_communicator(*the_library.job, members.shared_members(), members.rank());
  made->handler = errhandler_ref(handler);
  made->origin = members.origin();
  set_hints(*made, hints);
  return agree_and_open(*the_library.job, members.shared_members(), agreement_tag_of(stringtag),
                        made);
}

}  // namespace headway::mpi::calls
