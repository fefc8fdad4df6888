#include "mpi/tools/performance_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/lock_guard.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/environment/failure.hpp"
#include "mpi/tools/performance_variables.hpp"

namespace headway::mpi {
namespace tools {
namespace {

/// A handle of a performance variable. What only grows is counted from its first start.
class performance_handle {
 public:
  performance_handle(std::size_t index, MPI_Comm bound) : index_(index), bound_(bound) {}

  [[nodiscard]] bool counts() const HEADWAY_REQUIRES(lock) {
    return performance_variables()[index_].counts();
  }
  /// Whether its communicator, if it has one, still exists.
  [[nodiscard]] bool is_valid() const HEADWAY_REQUIRES(lock) {
    if (!performance_variables()[index_].of_communicator()) return true;
    const auto* its = mpi::find<communicator>(bound_);
    return its != nullptr && its->is_open() && counted() != nullptr;
  }
  [[nodiscard]] std::uint64_t value() const HEADWAY_REQUIRES(lock) {
    if (!counts()) return now();
    return sum_ + (running_ ? now() - begin_ : 0);
  }
  void start() HEADWAY_REQUIRES(lock) {
    if (!std::exchange(running_, true)) begin_ = now();
  }
  void stop() HEADWAY_REQUIRES(lock) {
    sum_ = value();
    running_ = false;
  }
  /// Returns the value and begins again at zero, without losing what is counted meanwhile.
  [[nodiscard]] std::uint64_t take() HEADWAY_REQUIRES(lock) {
    const auto at = now();
    return std::exchange(sum_, 0u) + (running_ ? at - std::exchange(begin_, at) : 0);
  }
  void set(std::uint64_t to) HEADWAY_REQUIRES(lock) {
    sum_ = to;
    if (running_) begin_ = now();
  }

 private:
  [[nodiscard]] std::uint64_t now() const HEADWAY_REQUIRES(lock) {
    return value_of(index_, mpi::find<communicator>(bound_));
  }

  std::size_t index_;
  MPI_Comm bound_;
  std::uint64_t sum_ = 0;    // counted until the last stop
  std::uint64_t begin_ = 0;  // the variable's value at the start
  bool running_ = false;
};

struct session {
  handle_table<performance_handle, MPI_T_pvar_handle> handles;
};

using session_table = handle_table<session, MPI_T_pvar_session>;
session_table& sessions() HEADWAY_REQUIRES(lock) {
  static auto* const made = new session_table;
  return *made;
}

int refuse_session() { return fail(MPI_T_ERR_INVALID_SESSION, "argument 1 is no pvar session"); }
int refuse_pvar() {
  return fail(MPI_T_ERR_INVALID_HANDLE, "argument 2 is no pvar handle of this session");
}

/// Calls `act(handle)` for a handle of the session, or for each of its handles that counts.
/// `refusal` is the error for a single one that does not.
template <class Act>
int with_handles(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int refusal, Act&& act)
    HEADWAY_REQUIRES(lock) {
  const auto its = sessions().find(session);
  if (its == nullptr) return refuse_session();
  if (handle == MPI_T_PVAR_ALL_HANDLES) {
    for (const auto& [bits, one] : its->handles.all())
      if (one->counts()) act(*one);
    return MPI_SUCCESS;
  }
  const auto one = its->handles.find(handle);
  if (one == nullptr || !one->is_valid()) return refuse_pvar();
  if (!one->counts()) return fail(refusal, "the variable always has its present value");
  act(*one);
  return MPI_SUCCESS;
}

}  // namespace

void free_sessions() { static_cast<void>(sessions().take_all()); }

}  // namespace tools

namespace calls {

int t_pvar_get_num(int* num_pvar) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (num_pvar == nullptr) return tools::refuse_null();
  *num_pvar = static_cast<int>(tools::update_performance_variables());
  return MPI_SUCCESS;
}

int t_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                    int* bind, int* readonly, int* continuous, int* atomic) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto& all = tools::performance_variables();
  if (pvar_index < 0 || std::cmp_greater_equal(pvar_index, all.size()))
    return fail(MPI_T_ERR_INVALID_INDEX, "argument 1 is {}, but there are {} performance variables",
                pvar_index, all.size());
  const auto& one = all[static_cast<std::size_t>(pvar_index)];
  tools::give_text(one.name, name, name_len);
  tools::give_text(one.why, desc, desc_len);
  tools::give(verbosity, MPI_T_VERBOSITY_TUNER_DETAIL);
  tools::give(var_class, one.var_class());
  tools::give(datatype, MPI_UNSIGNED_LONG_LONG);
  tools::give(enumtype, MPI_T_ENUM_NULL);
  tools::give(bind, one.of_communicator() ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
  tools::give(readonly, one.counts() ? 0 : 1);
  tools::give(continuous, one.counts() ? 0 : 1);
  tools::give(atomic, one.counts() ? 1 : 0);
  return MPI_SUCCESS;
}

int t_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (name == nullptr || pvar_index == nullptr) return tools::refuse_null();
  static_cast<void>(tools::update_performance_variables());
  const auto& all = tools::performance_variables();
  const auto found = std::ranges::find_if(
      all, [&](const auto& one) { return one.name == name && one.var_class() == var_class; });
  if (found == all.end())
    return fail(MPI_T_ERR_INVALID_NAME, "there is no performance variable '{}' of class {}", name,
                var_class);
  *pvar_index = static_cast<int>(found - all.begin());
  return MPI_SUCCESS;
}

int t_pvar_session_create(MPI_T_pvar_session* session) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (session == nullptr) return tools::refuse_null();
  *session = tools::sessions().add(std::make_shared<tools::session>());
  return MPI_SUCCESS;
}

int t_pvar_session_free(MPI_T_pvar_session* session) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (session == nullptr || tools::sessions().remove(*session) == nullptr)
    return tools::refuse_session();
  *session = MPI_T_PVAR_SESSION_NULL;
  return MPI_SUCCESS;
}

int t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void* obj_handle,
                        MPI_T_pvar_handle* handle, int* count) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto its = tools::sessions().find(session);
  if (its == nullptr) return tools::refuse_session();
  const auto& all = tools::performance_variables();
  if (pvar_index < 0 || std::cmp_greater_equal(pvar_index, all.size()))
    return fail(MPI_T_ERR_INVALID_INDEX, "argument 2 is {}, but there are {} performance variables",
                pvar_index, all.size());
  if (handle == nullptr || count == nullptr) return tools::refuse_null();
  const auto index = static_cast<std::size_t>(pvar_index);
  MPI_Comm bound = MPI_COMM_NULL;
  if (all[index].of_communicator()) {
    if (obj_handle == nullptr) return tools::refuse_null();
    bound = *static_cast<const MPI_Comm*>(obj_handle);
    if (find<communicator>(bound) == nullptr)
      return fail(MPI_T_ERR_INVALID_HANDLE, "argument 3 refers to no communicator");
  }
  *handle = its->handles.add(std::make_shared<tools::performance_handle>(index, bound));
  *count = 1;
  return MPI_SUCCESS;
}

int t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto its = tools::sessions().find(session);
  if (its == nullptr) return tools::refuse_session();
  if (handle == nullptr || its->handles.remove(*handle) == nullptr) return tools::refuse_pvar();
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}

int t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  return tools::with_handles(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP,
                             [](auto& one) HEADWAY_REQUIRES(tools::lock) { one.start(); });
}

int t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  return tools::with_handles(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP,
                             [](auto& one) HEADWAY_REQUIRES(tools::lock) { one.stop(); });
}

int t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  const auto its = tools::sessions().find(session);
  if (its == nullptr) return tools::refuse_session();
  const auto one = its->handles.find(handle);
  if (one == nullptr || !one->is_valid()) return tools::refuse_pvar();
  if (buf == nullptr) return tools::refuse_null();
  *static_cast<unsigned long long*>(buf) = one->value();
  return MPI_SUCCESS;
}

int t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (buf == nullptr) return tools::refuse_null();
  if (handle == MPI_T_PVAR_ALL_HANDLES) return tools::refuse_pvar();
  return tools::with_handles(session, handle, MPI_T_ERR_PVAR_NO_WRITE,
                             [buf](auto& one) HEADWAY_REQUIRES(tools::lock) {
                               one.set(*static_cast<const unsigned long long*>(buf));
                             });
}

int t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  return tools::with_handles(session, handle, MPI_T_ERR_PVAR_NO_WRITE,
                             [](auto& one) HEADWAY_REQUIRES(tools::lock) { one.set(0); });
}

int t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) {
  const tools::section held;
  if (!tools::is_open()) return tools::refuse_closed();
  if (buf == nullptr) return tools::refuse_null();
  if (handle == MPI_T_PVAR_ALL_HANDLES) return tools::refuse_pvar();
  return tools::with_handles(session, handle, MPI_T_ERR_PVAR_NO_ATOMIC,
                             [buf](auto& one) HEADWAY_REQUIRES(tools::lock) {
                               *static_cast<unsigned long long*>(buf) = one.take();
                             });
}

}  // namespace calls
}  // namespace headway::mpi
