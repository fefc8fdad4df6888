#pragma once

#include <memory>
#include <optional>

#include "collectives/collectives.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/environment/library.hpp"
#include "report/recorder.hpp"

namespace headway::mpi {

/// What is recorded of a collective call. The structs of arguments say with `waits` which rank
/// waits for which.
struct collective_facts {
  std::optional<report::dependence> waits = {};  ///< nothing: neighbours wait for each other
  bool compared = false;  ///< the report compares when ranks entered it; else traced alone
  int root = 0;
  std::uint64_t bytes = 0;  ///< 0: not said by one count and datatype

  template <class Arguments>
  [[nodiscard]] static collective_facts of(const Arguments& a) {
    collective_facts found;
    if constexpr (requires { Arguments::waits; }) {
      found.waits = Arguments::waits;
      found.compared = Arguments::waits != report::dependence::on_lower;
    }
    if constexpr (requires { a.root; }) found.root = a.root;
    if constexpr (requires { a.count* a.type.layout().size(); })
      found.bytes = static_cast<std::uint64_t>(a.count * a.type.layout().size());
    return found;
  }
};

/// A blocking collective operation, from the call to its return: enters the log of the communicator
/// if calls are recorded, and the timeline if they are traced.
class recorded_collective {
 public:
  template <class Arguments>
  recorded_collective(communicator& comm, const Arguments& a) {
    if (recording()) [[unlikely]]
      begin(comm, collective_facts::of(a));
  }
  /// One that is traced and not compared.
  recorded_collective(communicator& comm, const collective_facts& what) {
    if (recording()) [[unlikely]]
      begin(comm, what);
  }
  ~recorded_collective() {
    if (log_) [[unlikely]]
      end();
  }
  recorded_collective(const recorded_collective&) = delete;
  recorded_collective& operator=(const recorded_collective&) = delete;

 private:
  [[gnu::cold]] void begin(communicator& comm, const collective_facts& what);
  [[gnu::cold]] void end() noexcept;

  report::collective_log* log_ = nullptr;
  communicator* comm_ = nullptr;
  collective_facts what_;
  report::collective_entry call_;
};

/// A non-blocking or persistent collective operation whose calls are traced.
/// Threads:  those of its request.
class traced_operation {
 public:
  /// Null: calls are not traced. On all members of the communicator in the order of their calls.
  template <class Arguments>
  [[nodiscard]] static std::unique_ptr<traced_operation> of(communicator& comm,
                                                            const Arguments& a) {
    if (recording()) [[unlikely]]
      return make(comm, collective_facts::of(a));
    return {};
  }

  /// The present call starts it, or has found it complete.
  void start();
  void end() noexcept;

 private:
  [[gnu::cold]] static std::unique_ptr<traced_operation> make(communicator& comm,
                                                              const collective_facts& what);

  communicator* comm_ = nullptr;
  report::traced_collective shape_;  // without times
  report::traced_collective* present_ = nullptr;
};

}  // namespace headway::mpi
