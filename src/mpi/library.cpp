#include "mpi/library.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>

#include "base/log.hpp"
#include "mpi/communicator.hpp"
#include "mpi/context_ids.hpp"
#include "mpi/datatype.hpp"
#include "mpi/failure.hpp"
#include "mpi/finalization.hpp"
#include "mpi/operation.hpp"
#include "mpi/tunables.hpp"

namespace headway::mpi {
namespace {

communicator* make_predefined(member_list members, int rank, const char* name, std::uintptr_t value,
                              std::uint32_t id) {
  auto* made =
      new communicator(std::make_shared<const member_list>(std::move(members)), rank, name);
  made->handler = errhandler_ref(errors_are_fatal());
  made->open(id);
  define(*made, object_kind::comm, value);
  return made;
}

void remove_predefined(communicator*& gone) noexcept {
  undefine(*gone);
  delete gone;
  gone = nullptr;
}

/// Returns when every rank of the job has come here: nobody closes a rail that a peer still needs.
void meet_all(communicator& world) noexcept {
  const int n = world.size(), me = world.rank();
  for (int distance = 1; distance < n; distance *= 2) {
    messages::request to, from;
    exchange().receive(world.collective(), from, {}, (me - distance + n) % n, agreement_tag - 1);
    exchange().send(world.collective(), to, {}, (me + distance) % n, agreement_tag - 1);
    engine().wait(from);
    engine().wait(to);  // a lost peer ends both with an error, which changes nothing here
  }
}

}  // namespace

constinit library the_library;

void end_job(int exit_code, const std::string& why) noexcept {
  if (the_library.runtime != nullptr) {
    // Our own launcher, and a single process, say it themselves; other launchers keep it to them.
    auto& job = the_library.runtime->job();
    if (job.who().launcher != "headway" && job.who().launcher != "none") {
      base::log_line(base::severity::error, fmt::format("{}; the job ends", why));
    }
    job.abort(exit_code, why);
  } else {
    base::log_line(base::severity::error, why);
  }
  std::_Exit(exit_code);
}

int start_runtime() {
  if (the_library.runtime != nullptr) return MPI_SUCCESS;
  auto started = engine::runtime::start();
  if (!started) return fail_as(started.error());
  the_library.runtime = started->release();
  the_library.messages = &the_library.runtime->messages();
  the_library.progress = &the_library.runtime->progress();
  the_library.checks.store(checks_tunable.index() == 1, std::memory_order_relaxed);  // a setting
  define_datatypes();
  define_operations();
  (void)group::empty();  // makes it
  return MPI_SUCCESS;
}

int start_library(int thread_level) {
  if (const int code = start_runtime(); code != MPI_SUCCESS) return code;
  const int rank = the_library.runtime->rank();
  member_list all(static_cast<std::size_t>(the_library.runtime->size()));
  std::iota(all.begin(), all.end(), 0u);
  the_library.world =
      make_predefined(std::move(all), rank, "MPI_COMM_WORLD", 0x101, context_id_world);
  the_library.self = make_predefined({static_cast<std::uint32_t>(rank)}, 0, "MPI_COMM_SELF", 0x102,
                                     context_id_self);
  the_library.thread_level = thread_level;
  fill_info_env(thread_level);
  the_library.main_thread = pthread_self();
  // Release: a thread that sees `running` sees all of the above, should the program not order it.
  the_library.now.store(library::phase::running, std::memory_order_release);
  return MPI_SUCCESS;
}

int stop_library() {
  if (const int code = the_library.self->attributes.clear(*the_library.self)) return code;
  finish_operations();
  meet_all(*the_library.world);
  the_library.now.store(library::phase::over, std::memory_order_release);  // as in start_library
  reap_communicators();
  remove_predefined(the_library.self);
  remove_predefined(the_library.world);
  auto stopped = the_library.runtime->stop();
  delete the_library.runtime;
  the_library.runtime = nullptr;
  the_library.messages = nullptr;
  the_library.progress = nullptr;
  if (!stopped) return fail_as(stopped.error());
  return MPI_SUCCESS;
}

}  // namespace headway::mpi
