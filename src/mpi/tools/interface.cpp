#include "mpi/tools/interface.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/tools/control_variables.hpp"
#include "mpi/tools/event_delivery.hpp"
#include "mpi/tools/interface_calls.hpp"
#include "mpi/tools/performance_variables.hpp"

namespace headway::mpi {
namespace tools {

base::mutex lock;

namespace {

int users HEADWAY_GUARDED_BY(lock) = 0;  // calls of MPI_T_init_thread without MPI_T_finalize
runtime::instance* instance HEADWAY_GUARDED_BY(lock) = nullptr;

}  // namespace

section::~section() {
  lock.unlock();
  deliver_waiting();
}

bool is_open() { return users > 0; }
runtime::instance* counted() noexcept { return instance; }

void begin_counting(runtime::instance& from) {
  const base::lock_guard held(lock);
  HEADWAY_ASSERT(instance == nullptr);
  instance = &from;
}

void end_counting() {
  const section held;
  HEADWAY_ASSERT(instance != nullptr);
  keep_last_values();
  instance = nullptr;
}

int refuse_closed() { return fail(MPI_T_ERR_NOT_INITIALIZED, "MPI_T_init_thread was not called"); }
int refuse_null() { return fail(MPI_T_ERR_INVALID, "an argument is a null pointer"); }

void give_text(std::string_view text, char* to, int* length) noexcept {
  if (length == nullptr) return;
  if (to == nullptr || *length <= 0) {
    *length = static_cast<int>(text.size()) + 1;
    return;
  }
  const auto fits = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
  std::memcpy(to, text.data(), fits);
  to[fits] = '\0';
  *length = static_cast<int>(fits) + 1;
}

}  // namespace tools

namespace calls {

int t_init_thread(int required, int* provided) {
  if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
    return fail(MPI_T_ERR_INVALID, "argument 1 (required) is {}, which is no thread level",
                required);
  const base::lock_guard held(tools::lock);
  ++tools::users;
  tools::give(provided, MPI_THREAD_MULTIPLE);
  return MPI_SUCCESS;
}

int t_finalize() {
  {
    const base::lock_guard held(tools::lock);
    if (!tools::is_open()) return tools::refuse_closed();
    if (--tools::users > 0) return MPI_SUCCESS;
    tools::free_control_handles();
    tools::free_sessions();
  }
  tools::free_registrations();
  return MPI_SUCCESS;
}

}  // namespace calls
}  // namespace headway::mpi
