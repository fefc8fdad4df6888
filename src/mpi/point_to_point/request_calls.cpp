#include "mpi/point_to_point/request_calls.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/environment/library.hpp"
#include "mpi/objects/status.hpp"
#include "mpi/point_to_point/waiting.hpp"

namespace headway::mpi::calls {
namespace {

/// The object, or null for a null handle. The entry point has checked that it is alive.
request* at(MPI_Request handle) noexcept { return find<request>(handle); }

/// Whether it may become complete: neither null nor a persistent request that was not started.
bool is_waited_for(const request* r) noexcept { return r != nullptr && r->active; }

MPI_Status* status_at(MPI_Status* statuses, int i) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

void fill_empty(MPI_Status* status) noexcept {
  if (status != MPI_STATUS_IGNORE) set_status_empty(*status);
}

/// Ends the operation of `handle`, which refers to `r`.
int conclude_handle(MPI_Request& handle, request* r, MPI_Status* status) {
  if (!is_waited_for(r)) {
    fill_empty(status);
    return MPI_SUCCESS;
  }
  const int code = conclude(r, status);
  handle = handle_of(r);
  return code;
}

/// Completes several operations; stores their codes in the statuses if one has failed.
class several {
 public:
  explicit several(MPI_Status* statuses) : statuses_(statuses) {}

  /// Completes the operation of `handle`, which refers to `r`.
  void add(MPI_Request& handle, request* r) {
    const int code = conclude_handle(handle, r, status_at(statuses_, done_));
    if (code != MPI_SUCCESS && !first_) note();
    if (first_ && statuses_ != MPI_STATUSES_IGNORE) statuses_[done_].MPI_ERROR = code;
    ++done_;
  }
  [[nodiscard]] int result() {
    if (!first_) return MPI_SUCCESS;
    return fail_on(first_->owner, MPI_ERR_IN_STATUS,
                   fmt::format("an operation has failed: {}", first_->text));
  }

 private:
  void note() {
    first_ = last_failure();
    if (statuses_ == MPI_STATUSES_IGNORE) return;
    for (int i = 0; i < done_; ++i) statuses_[i].MPI_ERROR = MPI_SUCCESS;
  }

  MPI_Status* statuses_;
  int done_ = 0;
  std::optional<failure> first_;
};

/// The first request that is complete now.
std::optional<int> find_complete(std::span<const MPI_Request> requests, bool& any) noexcept {
  any = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const request* r = at(requests[i]);
    if (!is_waited_for(r)) continue;
    any = true;
    if (r->is_complete()) return static_cast<int>(i);
  }
  return std::nullopt;
}

/// The same after a round of polling if none is.
std::optional<int> poll_for_complete(std::span<const MPI_Request> requests, bool& any) noexcept {
  auto found = find_complete(requests, any);
  if (!found && any) {
    poll_while([&] { return !(found = find_complete(requests, any)); });
  }
  return found ? found : find_complete(requests, any);
}

bool all_complete(std::span<const MPI_Request> requests) noexcept {
  for (const MPI_Request each : requests) {
    const request* r = at(each);
    if (is_waited_for(r) && !r->is_complete()) return false;
  }
  return true;
}

/// Waits until one is complete and returns its index; nothing if there is nothing to wait for.
std::optional<int> wait_for_one(std::span<const MPI_Request> requests) {
  bool any = false;
  if (const auto found = find_complete(requests, any); found || !any) return found;
  constexpr std::size_t few = 32;
  std::array<progress::completion*, few> on_stack;
  std::vector<progress::completion*> on_heap;
  std::span<progress::completion*> watched(on_stack);
  if (requests.size() > few) {
    on_heap.resize(requests.size());
    watched = on_heap;
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const request* r = at(requests[i]);
    watched[i] = is_waited_for(r) ? r->pending : nullptr;
  }
  const auto began_ns = recording() ? base::machine_now_ns() : 0;
  const auto found = engine().wait_any(watched.first(requests.size()));
  if (began_ns != 0) [[unlikely]] {
    const report::wait_span span{.began_ns = began_ns, .ended_ns = base::machine_now_ns()};
    report::own_record().note_wait(span);
    at(requests[found])->note_wait(span);
  }
  return static_cast<int>(found);
}

std::span<MPI_Request> all(MPI_Request* requests, int count) noexcept {
  return {requests, static_cast<std::size_t>(count)};
}
std::span<const MPI_Request> all(const MPI_Request* requests, int count) noexcept {
  return {requests, static_cast<std::size_t>(count)};
}

int conclude_complete_ones(int count, MPI_Request* requests, int& outcount, int* indices,
                           MPI_Status* statuses) {
  several ended(statuses);
  outcount = 0;
  for (int i = 0; i < count; ++i) {
    request* const r = at(requests[i]);
    if (!is_waited_for(r) || !r->is_complete()) continue;
    ended.add(requests[i], r);
    indices[outcount++] = i;
  }
  return ended.result();
}

/// Fills the status without ending the operation: the empty one for a null or inactive request.
int peek(request* r, MPI_Status* status) {
  MPI_Status ignored;
  MPI_Status& filled = status == MPI_STATUS_IGNORE ? ignored : *status;
  if (is_waited_for(r)) return r->finish(filled);
  set_status_empty(filled);
  return MPI_SUCCESS;
}

}  // namespace

int wait(request*& r, MPI_Status* status) {
  if (!is_waited_for(r)) {
    fill_empty(status);
    return MPI_SUCCESS;
  }
  wait_for(*r);
  return conclude(r, status);
}

int waitany(int count, MPI_Request* requests, int& index, MPI_Status* status) {
  const auto found = wait_for_one(all(requests, count));
  index = found.value_or(MPI_UNDEFINED);
  if (found) return conclude_handle(requests[*found], at(requests[*found]), status);
  fill_empty(status);
  return MPI_SUCCESS;
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  several ended(statuses);
  for (int i = 0; i < count; ++i) {
    request* const r = at(requests[i]);
    if (is_waited_for(r)) wait_for(*r);
    ended.add(requests[i], r);
  }
  return ended.result();
}

int waitsome(int count, MPI_Request* requests, int& outcount, int* indices, MPI_Status* statuses) {
  if (!wait_for_one(all(requests, count))) {
    outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return conclude_complete_ones(count, requests, outcount, indices, statuses);
}

int test(request*& r, int& flag, MPI_Status* status) {
  if (!is_waited_for(r)) {
    flag = 1;
    fill_empty(status);
    return MPI_SUCCESS;
  }
  flag = test_for(*r);
  return flag ? conclude(r, status) : MPI_SUCCESS;
}

int testany(int count, MPI_Request* requests, int& index, int& flag, MPI_Status* status) {
  bool any = false;
  const auto found = poll_for_complete(all(requests, count), any);
  index = found.value_or(MPI_UNDEFINED);
  flag = found.has_value() || !any;
  if (found) return conclude_handle(requests[*found], at(requests[*found]), status);
  if (flag) fill_empty(status);
  return MPI_SUCCESS;
}

int testall(int count, MPI_Request* requests, int& flag, MPI_Status* statuses) {
  poll_while([&] { return !all_complete(all(requests, count)); });
  flag = all_complete(all(requests, count));
  if (!flag) return MPI_SUCCESS;
  several ended(statuses);
  for (MPI_Request& each : all(requests, count)) ended.add(each, at(each));
  return ended.result();
}

int testsome(int count, MPI_Request* requests, int& outcount, int* indices, MPI_Status* statuses) {
  bool any = false;
  const auto found = poll_for_complete(all(requests, count), any);
  if (!any) {
    outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  outcount = 0;
  return found ? conclude_complete_ones(count, requests, outcount, indices, statuses) : MPI_SUCCESS;
}

int request_get_status(request* r, int& flag, MPI_Status* status) {
  flag = !is_waited_for(r) || test_for(*r);
  return flag ? peek(r, status) : MPI_SUCCESS;
}

int request_get_status_all(int count, const MPI_Request* requests, int& flag,
                           MPI_Status* statuses) {
  poll_while([&] { return !all_complete(all(requests, count)); });
  flag = all_complete(all(requests, count));
  for (int i = 0; flag && i < count; ++i) {
    const int code = peek(at(requests[i]), status_at(statuses, i));
    if (statuses != MPI_STATUSES_IGNORE) statuses[i].MPI_ERROR = code;
  }
  return MPI_SUCCESS;
}

int request_get_status_any(int count, const MPI_Request* requests, int& index, int& flag,
                           MPI_Status* status) {
  bool any = false;
  const auto found = poll_for_complete(all(requests, count), any);
  index = found.value_or(MPI_UNDEFINED);
  flag = found.has_value() || !any;
  if (found) return peek(at(requests[*found]), status);
  if (flag) fill_empty(status);
  return MPI_SUCCESS;
}

int request_get_status_some(int count, const MPI_Request* requests, int& outcount, int* indices,
                            MPI_Status* statuses) {
  bool any = false;
  (void)poll_for_complete(all(requests, count), any);
  outcount = any ? 0 : MPI_UNDEFINED;
  for (int i = 0; any && i < count; ++i) {
    request* r = at(requests[i]);
    if (!is_waited_for(r) || !r->is_complete()) continue;
    MPI_Status* status = status_at(statuses, outcount);
    const int code = peek(r, status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
    indices[outcount++] = i;
  }
  return MPI_SUCCESS;
}

int request_free(request*& r) {
  if (is_waited_for(r) && !r->is_complete() && !r->may_be_abandoned())
    return fail(MPI_ERR_REQUEST,
                "an operation of this kind may not be freed before it is complete");
  abandon(*r);
  r = nullptr;
  return MPI_SUCCESS;
}

int start(request*& r) {
  if (!r->persistent) return fail(MPI_ERR_REQUEST, "the request is not persistent");
  if (r->active) return fail(MPI_ERR_REQUEST, "the request was started already");
  return r->start();
}

int startall(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    request* r = at(requests[i]);
    if (r == nullptr) return fail(MPI_ERR_REQUEST, "the request at index {} is null", i);
    if (const int code = start(r)) return code;
  }
  return MPI_SUCCESS;
}

int cancel(request*& r) {
  if (!r->active) return fail(MPI_ERR_REQUEST, "the request is not under way");
  return r->cancel();
}

}  // namespace headway::mpi::calls
