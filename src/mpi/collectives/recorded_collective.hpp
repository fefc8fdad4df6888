#pragma once

#include "mpi/communicators/communicator.hpp"
#include "mpi/environment/library.hpp"
#include "report/collective_log.hpp"

namespace headway::mpi {

/// A blocking collective operation, from the call to its return: enters the log of the communicator
/// if calls are recorded. The structs of arguments say with `waits` which rank waits for which;
/// those without are not recorded.
class recorded_collective {
 public:
  template <class Arguments>
  recorded_collective(communicator& comm, const Arguments& a) {
    if constexpr (requires { Arguments::waits; }) {
      if (!recording()) [[likely]]
        return;
      int root = 0;
      if constexpr (requires { a.root; }) root = a.root;
      begin(comm, root, Arguments::waits);
      if constexpr (requires { a.count* a.type.layout().size(); })
        bytes_ = static_cast<std::uint64_t>(a.count * a.type.layout().size());
    }
  }
  ~recorded_collective() {
    if (log_) [[unlikely]]
      end();
  }
  recorded_collective(const recorded_collective&) = delete;
  recorded_collective& operator=(const recorded_collective&) = delete;

 private:
  [[gnu::cold]] void begin(communicator& comm, int root, report::dependence waits);
  [[gnu::cold]] void end() noexcept;

  report::collective_log* log_ = nullptr;
  communicator* comm_ = nullptr;
  std::uint64_t bytes_ = 0;
  report::collective_entry call_;
};

}  // namespace headway::mpi
