#include "mpi/library.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/log.hpp"
#include "endpoint_calls/calls.hpp"
#include "engine/sharing.hpp"
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

namespace {

// Guards start and end against each other: sessions may be opened by several threads at once.
std::mutex lifetime;
bool stopped_for_good = false;

communicator* everyone_else_too() {
  member_list all(static_cast<std::size_t>(the_library.runtime->size()));
  std::iota(all.begin(), all.end(), 0u);
  auto* made = new communicator(std::make_shared<const member_list>(std::move(all)),
                                the_library.runtime->rank(), "the job");
  made->handler = errhandler_ref(errors_are_fatal());
  made->open(context_id_everyone);
  return made;
}

/// To a child MPI is over: what it asks is refused, and its end does not concern the job.
void in_child() noexcept {
  if (the_library.runtime == nullptr) return;
  the_library.runtime = nullptr;
  the_library.messages = nullptr;
  the_library.progress = nullptr;
  the_library.sessions = 0;
  the_library.up.store(false, std::memory_order_relaxed);  // a child has one thread
  the_library.world_is.store(library::phase::over, std::memory_order_relaxed);
}

int start_runtime() {
  if (the_library.runtime != nullptr) return MPI_SUCCESS;
  if (stopped_for_good) {
    return fail(MPI_ERR_OTHER, "MPI was finalised, and cannot be initialised again");
  }
  if (endpoint_calls::other_engine_in_use())
    return fail(MPI_ERR_OTHER,
                "end-points run in this process on an engine of libheadway.so's own, which lies in "
                "another folder than this MPI library; load MPI first");
  auto started = engine::hold();
  if (!started) return fail_as(started.error());
  static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
  (void)registered;
  the_library.runtime = *started;
  the_library.messages = &the_library.runtime->messages();
  the_library.progress = &the_library.runtime->progress();
  the_library.checks.store(checks_tunable.index() == 1, std::memory_order_relaxed);  // a setting
  define_datatypes();
  define_operations();
  (void)group::empty();  // makes it
  the_library.everyone = everyone_else_too();
  return MPI_SUCCESS;
}

/// What is under way ends, everybody comes here, then MPI_COMM_WORLD and MPI_COMM_SELF go.
void end_world() {
  finish_operations();
  meet_all(*the_library.everyone);
  reap_communicators();
  if (the_library.self == nullptr) return;  // only sessions
  remove_predefined(the_library.self);
  remove_predefined(the_library.world);
}

int stop_runtime() {
  end_world();
  delete std::exchange(the_library.everyone, nullptr);
  the_library.runtime = nullptr;
  auto stopped = engine::let_go();
  the_library.messages = nullptr;
  the_library.progress = nullptr;
  stopped_for_good = true;
  if (!stopped) return fail_as(stopped.error());
  return MPI_SUCCESS;
}

/// At exit of a program that had sessions and closed them all, but never MPI_Init.
void stop_at_exit() {
  const std::scoped_lock held(lifetime);
  if (the_library.runtime != nullptr && the_library.sessions == 0 &&
      the_library.world_is.load(std::memory_order_relaxed) != library::phase::running) {
    (void)stop_runtime();
  }
}

// Release: a thread that sees the library up sees its parts, should the program not order it.
void set_up(bool up) { the_library.up.store(up, std::memory_order_release); }

}  // namespace

int open_world(int thread_level) {
  const std::scoped_lock held(lifetime);
  if (const int code = start_runtime(); code != MPI_SUCCESS) return code;
  const auto rank = static_cast<std::uint32_t>(the_library.runtime->rank());
  the_library.world =
      make_predefined(the_library.everyone->members(), static_cast<int>(rank), "MPI_COMM_WORLD",
                      reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD), context_id_world);
  the_library.self = make_predefined(
      {rank}, 0, "MPI_COMM_SELF", reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF), context_id_self);
  the_library.thread_level = thread_level;
  the_library.main_thread = pthread_self();
  fill_info_env(thread_level);
  set_up(true);
  the_library.world_is.store(library::phase::running, std::memory_order_release);  // as `up`
  return MPI_SUCCESS;
}

int close_world() {
  // Callbacks of the program run here: the library is still what it was to them.
  if (const int code = the_library.self->attributes.clear(*the_library.self)) return code;
  const std::scoped_lock held(lifetime);
  the_library.world_is.store(library::phase::over, std::memory_order_release);  // as in open_world
  set_up(the_library.sessions > 0);
  if (the_library.sessions == 0) return stop_runtime();
  end_world();
  return MPI_SUCCESS;
}

int open_session() {
  const std::scoped_lock held(lifetime);
  if (const int code = start_runtime(); code != MPI_SUCCESS) return code;
  static const bool asked = std::atexit(&stop_at_exit) == 0;
  (void)asked;
  ++the_library.sessions;
  set_up(true);
  return MPI_SUCCESS;
}

int close_session() {
  const std::scoped_lock held(lifetime);
  if (--the_library.sessions > 0) return MPI_SUCCESS;
  const auto world = the_library.world_is.load(std::memory_order_relaxed);  // under the lock
  set_up(world == library::phase::running);
  return world == library::phase::over ? stop_runtime() : MPI_SUCCESS;
}

}  // namespace headway::mpi
