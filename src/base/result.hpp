#pragma once

#include <expected>
#include <string>
#include <utility>

namespace headway::base {

/// The kind of a fault; mpi/environment/failure.cpp maps each to an MPI error class.
enum class fault_kind {
  bad_input,    ///< a setting, an argument or bytes from outside that make no sense
  unsupported,  ///< asked for something that this build or machine cannot do
  no_memory,    ///< memory, descriptors or another counted resource ran out
  system,       ///< the kernel refused; the text holds call, object and errno
  timed_out,    ///< a deadline passed; the text names what was waited for
  peer_lost,    ///< another process of the job is gone
  refused,      ///< the other side does not know the job's secret, or speaks something else
};

/// A failure outside the program: its kind, and one line that names the cause (lower case, no
/// advice).
struct fault {
  fault_kind kind = fault_kind::system;
  std::string text;
};

/// A value, or the fault that prevented it.
template <class T = void>
using result = std::expected<T, fault>;

/// `return failed(fault_kind::system, "open /dev/shm/x: permission denied");`
[[nodiscard]] inline std::unexpected<fault> failed(fault_kind kind, std::string text) {
  return std::unexpected(fault{kind, std::move(text)});
}

/// The same with the text of `errno` after it: "open /dev/shm/x: Permission denied".
[[nodiscard]] std::unexpected<fault> failed_errno(std::string what, int error_number);

}  // namespace headway::base
