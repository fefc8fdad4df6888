#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace headway::mpi {

class object;

/// Why the call that runs on this thread fails: a meaning writes `return fail(MPI_ERR_ARG, "…");`
/// and the entry point hands code and text to the error handler of the call's communicator.
/// Threads:  each its own.

/// Remembers the text and returns `code`.
[[nodiscard]] int fail_with(int code, std::string text);
template <class... Args>
[[nodiscard]] int fail(int code, fmt::format_string<Args...> format, Args&&... args) {
  return fail_with(code, fmt::format(format, std::forward<Args>(args)...));
}
/// The same for a failure that is not the call's communicator's but that of `owner` (a request's).
[[nodiscard]] int fail_on(const object* owner, int code, std::string text);
/// The class that belongs to the kind of fault, and its text.
[[nodiscard]] int fail_as(const base::fault& fault);

struct failure {
  int code = 0;
  const object* owner = nullptr;
  std::string text;
};
/// The failure noted last on this thread.
[[nodiscard]] failure& last_failure() noexcept;

}  // namespace headway::mpi
