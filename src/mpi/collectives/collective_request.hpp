#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "collectives/recent_schedules.hpp"
#include "mpi/collectives/recorded_collective.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/objects/pool.hpp"
#include "mpi/point_to_point/request.hpp"

namespace headway::mpi {

class steps_builder;

/// A non-blocking or persistent collective operation: a schedule that progresses by itself.
/// Threads:  see `request`.
class collective_request final : public request {
 public:
  collective_request(communicator& on, collectives::recent_schedules::lease steps) noexcept;
  int start() override;
  int finish(MPI_Status& status) override;
  void release() noexcept override;

  std::unique_ptr<traced_operation> traced;  ///< null: its calls are not traced

 private:
  communicator_ref kept_;  // before the lease, which ends first
  collectives::recent_schedules::lease steps_;
};

/// The MPI error code of a failed collective; records the failure for the error handler of `comm`.
[[nodiscard]] int failure_code(messages::outcome how, int failed_rank, const communicator& comm);
[[nodiscard]] inline int code_of(messages::outcome how, int failed_rank, const communicator& comm) {
  if (how == messages::outcome::ok) [[likely]]
    return MPI_SUCCESS;
  return failure_code(how, failed_rank, comm);
}

/// The arguments of a collective call, as a reference to any of the structs of
/// collective_calls.hpp.
struct collective_call {
  template <class Arguments>
  collective_call(const communicator& comm, const Arguments& a, collectives::call::form how)
      : arguments(&a),
        what{.what = Arguments::kind, .how = how},
        append([](const void* of, steps_builder& to) {
          const auto& call = *static_cast<const Arguments*>(of);
          if (!is_inter(to)) [[likely]]
            return call.append(to);
          if constexpr (requires { call.append_inter(to); }) return call.append_inter(to);
          return refuse_inter();
        }) {
    // In an inter-communicator ranks pass different roots.
    if constexpr (requires { a.root; })
      if (!comm.is_inter()) what.root = a.root;
  }
  [[nodiscard]] static bool is_inter(const steps_builder& to) noexcept;
  [[nodiscard]] static int refuse_inter();
  const void* arguments;
  collectives::call what;
  int (*append)(const void* arguments, steps_builder& to);
};
using optional_key = std::optional<collectives::call_key>;

/// Each returns an MPI error code. `run` waits for the end; `prepare` makes a persistent request,
/// which is not started. With a key, schedules come from the schedule cache and return to it.
using traced_ptr = std::unique_ptr<traced_operation>;
int run_collective(communicator& comm, const collective_call& call, const optional_key& key);
int start_collective(communicator& comm, const collective_call& call, const optional_key& key,
                     traced_ptr traced, request*& made);
int prepare_collective(communicator& comm, const collective_call& call, traced_ptr traced,
                       request*& made);

template <class Arguments>
[[nodiscard]] optional_key key_of(const Arguments& a) {
  if constexpr (requires { a.key(); }) return a.key();
  return {};
}
template <class Arguments>
[[nodiscard]] int run_collective(communicator& comm, const Arguments& a) {
  const recorded_collective recorded(comm, a);
  const collective_call call(comm, a, collectives::call::form::blocking);
  comm.count_blocking_collective(call.what);
  if constexpr (requires { a.run_in_slots(comm); })
    if (const auto code = a.run_in_slots(comm)) return *code;
  if constexpr (requires { a.run_in_lines(comm); })
    if (a.run_in_lines(comm)) return MPI_SUCCESS;
  return run_collective(comm, call, key_of(a));
}
template <class Arguments>
[[nodiscard]] int start_collective(communicator& comm, const Arguments& a, request*& made) {
  return start_collective(comm, collective_call(comm, a, collectives::call::form::non_blocking),
                          key_of(a), traced_operation::of(comm, a), made);
}
template <class Arguments>
[[nodiscard]] int prepare_collective(communicator& comm, const Arguments& a, request*& made) {
  return prepare_collective(comm, collective_call(comm, a, collectives::call::form::persistent),
                            traced_operation::of(comm, a), made);
}

}  // namespace headway::mpi
