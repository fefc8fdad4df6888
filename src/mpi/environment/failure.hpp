#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace headway::mpi {

class object;

// How the implementation of a call reports an error: `return fail(MPI_ERR_ARG, "…");`. The text is
// stored for the thread. The generated entry point calls `raise` with the code, which passes both
// to the error handler of the call's communicator, window, file or session.

/// Stores the text as this thread's last failure and returns `code`.
[[nodiscard]] int fail_with(int code, std::string text);
template <class... Args>
[[nodiscard]] int fail(int code, fmt::format_string<Args...> format, Args&&... args) {
  // Returned from here, where clang's analyser sees that it is the caller's constant.
  static_cast<void>(fail_with(code, fmt::format(format, std::forward<Args>(args)...)));
  return code;
}
/// The same for the error handler of `owner` instead of the call's: in MPI_Waitall, that of the
/// request's communicator.
[[nodiscard]] int fail_on(const object* owner, int code, std::string text);
/// The same with the error class for the kind of fault, and with the fault's text.
[[nodiscard]] int fail_as(const base::fault& fault);

struct failure {
  int code = 0;
  const object* owner = nullptr;  ///< its error handler is called; null: the call's
  std::string text;
};
/// This thread's last failure.
[[nodiscard]] failure& last_failure() noexcept;

}  // namespace headway::mpi
