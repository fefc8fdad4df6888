#include "mpi/point_to_point/waiting.hpp"

#include <vector>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/abi/finalization.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/recorded_messages.hpp"
#include "mpi/point_to_point/send_buffer.hpp"

namespace headway::mpi {
namespace {

// Requests that were freed while they were under way. Each call of `abandon` tests a few of them
// and frees those that are complete; other calls have no cost for them.
struct abandoned_requests {
  base::mutex lock;
  std::vector<request*> all HEADWAY_GUARDED_BY(lock);
  std::size_t next HEADWAY_GUARDED_BY(lock) = 0;
};

abandoned_requests& abandoned() {
  static auto* const made = new abandoned_requests;
  return *made;
}

void reap_some(abandoned_requests& those) noexcept HEADWAY_REQUIRES(those.lock) {
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
  if (r.is_complete()) return;
  if (recording()) [[unlikely]]
    return r.note_wait(timed_wait(*r.pending, r.waits_briefly()));
  engine().wait(*r.pending);
}

bool test_for(request& r) noexcept {
  if (r.is_complete()) return true;
  poll_while([&] { return !r.is_complete(); });
  return r.is_complete();
}

int conclude(request*& r, MPI_Status* status) {
  MPI_Status ignored;
  MPI_Status& filled = status == MPI_STATUS_IGNORE ? ignored : *status;
  HEADWAY_DEBUG_ASSERT(r->active && r->is_complete());
  const bool stays = r->persistent;
  const int code = r->conclude(filled);
  if (!stays) r = nullptr;
  return code;
}

int request::conclude(MPI_Status& status) {
  int code = finish(status);
  if (code != MPI_SUCCESS) name_owner_of_failure();
  active = false;
  if (persistent) return code;
  const int left = leave();
  if (code == MPI_SUCCESS) code = left;
  release();
  return code;
}

void request::name_owner_of_failure() const noexcept {
  if (last_failure().owner == nullptr) last_failure().owner = comm;
}

void abandon(request& r) {
  if (!r.active || r.is_complete()) return r.release();
  r.retire();
  auto& those = abandoned();
  const base::lock_guard held(those.lock);
  reap_some(those);
  those.all.push_back(&r);
}

void finish_operations() noexcept {
  flush_all_buffers();
  auto& those = abandoned();
  const base::lock_guard held(those.lock);
  for (request* each : those.all) {
    wait_for(*each);
    each->release();
  }
  those.all.clear();
}

}  // namespace headway::mpi
