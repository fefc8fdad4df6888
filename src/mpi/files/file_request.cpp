#include "mpi/files/file_request.hpp"

#include <optional>

#include "base/lock_guard.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/objects/status.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::mpi {
namespace {

base::mutex helpers_lock;
std::optional<files::helper_threads> helpers HEADWAY_GUARDED_BY(helpers_lock);

void give_to_helper(files::job& what) {
  const base::lock_guard held(helpers_lock);
  if (!helpers) helpers.emplace(progress::usable_processors(the_library.runtime->machine()));
  helpers->submit(what);
}

[[nodiscard]] files::moved carry_out(const files::access& what, file& on,
                                     const files::open_file& descriptor, const files::view& view) {
  if (!what.atomic) return files::carry_out(what, descriptor, view);
  // The kernel's lock is the descriptor's, so it does not exclude this process's other threads.
  const base::lock_guard held(on.atomic_accesses);
  return files::carry_out(what, descriptor, view);
}

}  // namespace

void end_file_helpers() noexcept {
  const base::lock_guard held(helpers_lock);
  helpers.reset();
}

files::moved carry_out(const files::access& what, file& on) {
  return carry_out(what, on, *on.descriptor(), on.view().data);
}

int code_of(const files::access& what, const files::moved& how, const file& on) {
  if (how.error == 0) return MPI_SUCCESS;
  const bool reads = what.way == files::direction::reading;
  return fail_errno(on, (reads ? "read " : "write ") + on.path(), how.error);
}

file_request::file_request(file& on, const files::access& what)
    : on_(on), what_(what), descriptor_(on.descriptor()), view_(on.view().data) {
  pending = &done_;
  comm = &on.comm();
}

file_request::file_request(file& on, const files::access& what, const files::moved& how)
    : file_request(on, what) {
  how_ = how;
  pending = nullptr;
}

void file_request::begin() { give_to_helper(*this); }

void file_request::run() noexcept {
  how_ = carry_out(what_, on_, *descriptor_, view_);
  done_.complete();
}

int file_request::finish(MPI_Status& status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, how_.bytes);
  return code_of(what_, how_, on_);
}

void file_request::release() noexcept { pool<file_request>::all().drop(this); }

}  // namespace headway::mpi
