#include "mpi/environment/library.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/once_a_job.hpp"
#include "base/thread_annotations.hpp"
#include "c_api/endpoints/calls.hpp"
#include "c_api/shared_runtime/shared_runtime.hpp"
#include "messages/numbers.hpp"
#include "mpi/abi/finalization.hpp"
#include "mpi/collectives/operation.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/datatypes/datatype.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/job_report.hpp"
#include "mpi/environment/program_output.hpp"
#include "mpi/files/file_request.hpp"
#include "mpi/tools/interface.hpp"

namespace headway::mpi {
namespace {

communicator* make_predefined(processes::membership_ref members, int rank, const char* name,
                              std::uintptr_t value, std::uint32_t id) {
  auto* made = new communicator(std::move(members), rank, name);
  made->handler = errhandler_ref(errors_are_fatal());
  made->open(id);
  define(*made, object_kind::comm, value);
  return made;
}

void remove_predefined(communicator*& gone) noexcept {
  HEADWAY_ASSERT(gone != nullptr);
  undefine(*gone);
  delete gone;
  gone = nullptr;
}

/// A barrier over the job, so that no process closes a rail that a peer still needs.
void wait_for_all(communicator& job) noexcept {
  const int n = job.size(), me = job.rank();
  for (int distance = 1; distance < n; distance *= 2) {
    messages::request to, from;
    exchange().receive(job.collective(), from, {}, (me - distance + n) % n, messages::farewell_tag);
    exchange().send(job.collective(), to, {}, (me + distance) % n, messages::farewell_tag);
    engine().wait(from);
    engine().wait(to);  // a lost peer ends both with an error, which changes nothing here
  }
}

}  // namespace

constinit library the_library;

namespace {

/// The reason without the rank that gives it.
std::string_view without_rank(std::string_view why) noexcept {
  const auto end = why.starts_with("rank ") ? why.find(": ") : why.npos;
  return end == why.npos ? why : why.substr(end + 2);
}

}  // namespace

void end_job(int exit_code, const std::string& why) noexcept {
  report_early_end(why);
  flush_program_output();  // before the launcher knows of the abort, and kills this process
  if (the_library.runtime != nullptr) {
    // Headway's launcher prints the reason, and so does `abort` without a launcher; others do not.
    auto& job = the_library.runtime->job();
    if (job.who().launcher != "headway" && job.who().launcher != "none") {
      base::log_line(base::severity::error, fmt::format("{}; the job ends", why));
    }
    job.abort(exit_code, why);
  } else if (base::first_of_job(without_rank(why))) {  // without a runtime, ranks often fail alike
    base::log_line(base::severity::error, why);
  }
  std::_Exit(exit_code);
}

namespace {

// Serialises start and end: several threads may open sessions at once.
base::mutex lifetime;
bool stopped_for_good HEADWAY_GUARDED_BY(lifetime) = false;

communicator* make_job_communicator() {
  auto* made = new communicator(memberships().intern(*the_library.runtime->job_members()),
                                the_library.runtime->rank(), "the job");
  made->handler = errhandler_ref(errors_are_fatal());
  made->open(messages::context_pair::job);
  return made;
}

/// After fork, the child is as after MPI_Finalize: calls are refused, and its exit does not end the
/// job.
void in_child() noexcept {
  if (the_library.runtime == nullptr) return;
  the_library.runtime = nullptr;
  the_library.messages = nullptr;
  the_library.progress = nullptr;
  the_library.sessions = 0;
  // A child has one thread.
  the_library.calls.store(library::call_mode::refused, std::memory_order_relaxed);
  the_library.world_is.store(library::phase::over, std::memory_order_relaxed);
}

int start_runtime() HEADWAY_REQUIRES(lifetime) {
  if (the_library.runtime != nullptr) return MPI_SUCCESS;
  if (stopped_for_good) {
    return fail(MPI_ERR_OTHER, "MPI was finalised, and cannot be initialised again");
  }
  if (endpoint_api::other_engine_in_use())
    return fail(MPI_ERR_OTHER,
                "end-points run in this process on an engine of libheadway.so's own, which lies in "
                "another folder than this MPI library; load MPI first");
  auto started = shared_runtime::hold();
  if (!started) return fail_as(started.error());
  static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
  (void)registered;
  the_library.runtime = *started;
  the_library.messages = &the_library.runtime->messages();
  the_library.progress = &the_library.runtime->progress();
  tools::begin_counting(**started);
  auto chosen = settings::from_environment();
  const auto& watch = shared_runtime::own_settings().watch;
  chosen.report.summary = watch.summarises();
  chosen.report.traced_entries = watch.traces() ? watch.trace_entries : 0;
  the_library.checks.store(chosen.check_arguments,
                           std::memory_order_relaxed);  // as in `checks_on`
  begin_report(chosen.report);
  the_library.collectives = shared_runtime::own_settings().collectives;
  define_datatypes();
  define_operations();
  (void)group::empty();  // makes it
  the_library.job = make_job_communicator();
  return MPI_SUCCESS;
}

/// Completes what is under way, waits for all processes, removes MPI_COMM_WORLD and MPI_COMM_SELF.
void end_world() {
  finish_operations();
  wait_for_all(*the_library.job);
  reap_communicators();
  if (the_library.self == nullptr) return;  // only sessions
  remove_predefined(the_library.self);
  remove_predefined(the_library.world);
}

int stop_runtime() HEADWAY_REQUIRES(lifetime) {
  HEADWAY_ASSERT(the_library.runtime != nullptr && the_library.job != nullptr);
  finish_report();
  end_file_helpers();
  end_world();
  delete std::exchange(the_library.job, nullptr);
  tools::end_counting();
  the_library.runtime = nullptr;
  auto stopped = shared_runtime::let_go();
  the_library.messages = nullptr;
  the_library.progress = nullptr;
  stopped_for_good = true;
  if (!stopped) return fail_as(stopped.error());
  return MPI_SUCCESS;
}

/// Called at exit of a program that had sessions and closed them all, but never called MPI_Init.
void stop_at_exit() {
  const base::lock_guard held(lifetime);
  if (the_library.runtime != nullptr && the_library.sessions == 0 &&
      the_library.world_is.load(std::memory_order_relaxed) != library::phase::running) {
    (void)stop_runtime();
  }
}

// Release: a thread that sees that calls are allowed sees the library's parts, even if the program
// does not order its calls.
void set_up(bool up) {
  using enum library::call_mode;
  const auto allowed = records_calls() ? recorded : plain;
  if (up) the_library.progress->expect_one_waiter(calls_are_serialized());
  the_library.calls.store(up ? allowed : refused, std::memory_order_release);
}

}  // namespace

int open_world(int thread_level) {
  const base::lock_guard held(lifetime);
  if (const int code = start_runtime(); code != MPI_SUCCESS) return code;
  const auto& all = the_library.job->shared_members();
  the_library.world = make_predefined(all, the_library.runtime->rank(), "MPI_COMM_WORLD",
                                      reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD),
                                      messages::context_pair::world);
  the_library.self = make_predefined(
      memberships().intern(processes::membership(this_process(), 1)), 0, "MPI_COMM_SELF",
      reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF), messages::context_pair::self);
  the_library.thread_level = thread_level;
  the_library.main_thread = pthread_self();
  fill_info_env();
  set_up(true);
  the_library.world_is.store(library::phase::running, std::memory_order_release);  // as in set_up
  return MPI_SUCCESS;
}

int close_world() {
  // Before anything changes: the program's delete callbacks run here and may call MPI.
  if (const int code = the_library.self->attributes.clear(*the_library.self)) return code;
  const base::lock_guard held(lifetime);
  the_library.world_is.store(library::phase::over, std::memory_order_release);  // as in open_world
  set_up(the_library.sessions > 0);
  if (the_library.sessions == 0) return stop_runtime();
  end_world();
  return MPI_SUCCESS;
}

int open_session() {
  const base::lock_guard held(lifetime);
  if (const int code = start_runtime(); code != MPI_SUCCESS) return code;
  static const bool asked = std::atexit(&stop_at_exit) == 0;
  (void)asked;
  ++the_library.sessions;
  set_up(true);
  return MPI_SUCCESS;
}

int close_session() {
  const base::lock_guard held(lifetime);
  HEADWAY_ASSERT(the_library.sessions > 0);
  if (--the_library.sessions > 0) return MPI_SUCCESS;
  const auto world = the_library.world_is.load(std::memory_order_relaxed);  // under the lock
  set_up(world == library::phase::running);
  return world == library::phase::over ? stop_runtime() : MPI_SUCCESS;
}

}  // namespace headway::mpi
