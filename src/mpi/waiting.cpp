#include "mpi/waiting.hpp"

#include <mutex>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/failure.hpp"
#include "mpi/finalization.hpp"
#include "mpi/library.hpp"
#include "mpi/send_buffer.hpp"
#include "mpi/status.hpp"

namespace headway::mpi {
namespace {

// Requests that were freed while they were under way. Looked through when the next one comes, a few
// at a time, so that nothing is added to the path of messages that are waited for.
struct abandoned_requests {
  std::mutex lock;
  std::vector<request*> all;
  std::size_t next = 0;
};

abandoned_requests& abandoned() {
  static auto* const made = new abandoned_requests;
  return *made;
}

void reap_some(abandoned_requests& those) noexcept {
  constexpr int looks = 8;
  for (int i = 0; i < looks && !those.all.empty(); ++i) {
    those.next %= those.all.size();
    request*& one = those.all[those.next];
    if (!one->is_complete()) {
      ++those.next;
      continue;
    }
    one->release();
    one = those.all.back();
    those.all.pop_back();
  }
}

}  // namespace

void wait_for(request& r) noexcept {
  if (!r.is_complete()) engine().wait(*r.pending);
}

bool test_for(request& r) noexcept {
  if (r.is_complete()) return true;
  poll_while([&] { return !r.is_complete(); });
  return r.is_complete();
}

int conclude(request*& r, MPI_Status* status) {
  MPI_Status ignored;
  MPI_Status& filled = status == MPI_STATUS_IGNORE ? ignored : *status;
  if (!r->active) {
    set_status_empty(filled);
    return MPI_SUCCESS;
  }
  int code = r->finish(filled);
  // What `finish` notes without saying whose it is belongs to the request's communicator.
  if (code != MPI_SUCCESS && last_failure().owner == nullptr) last_failure().owner = r->comm;
  r->active = false;
  if (!r->persistent) {
    const int left = r->leave();
    if (code == MPI_SUCCESS) code = left;
    r->release();
    r = nullptr;
  }
  return code;
}

void abandon(request& r) {
  if (!r.active || r.is_complete()) return r.release();
  r.retire();
  auto& those = abandoned();
  const std::scoped_lock held(those.lock);
  reap_some(those);
  those.all.push_back(&r);
}

void finish_operations() noexcept {
  flush_all_buffers();
  auto& those = abandoned();
  const std::scoped_lock held(those.lock);
  for (request* each : those.all) {
    wait_for(*each);
    each->release();
  }
  those.all.clear();
}

}  // namespace headway::mpi
