#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/result.hpp"

namespace headway::base {

/// A shared library that is loaded with dlopen on first need, and stays loaded until the process
/// ends.
/// Threads:  one at a time for each object.
class shared_library {
 public:
  /// `name` and `mode` as of dlopen. Waits for the file system.
  /// Errors:   `unsupported` with the linker's reason.
  [[nodiscard]] static result<shared_library> load(const char* name, int mode) {
    void* const handle = dlopen(name, mode);
    if (!handle) return failure(name);
    return shared_library(name, handle);
  }

  /// Sets each pointer to the function of that name: `find("f", f, "g", g)`.
  /// Errors:   `unsupported` when the library lacks one.
  template <class Function, class... More>
  [[nodiscard]] result<> find(const char* function, Function& out, More&&... more) const {
    out = reinterpret_cast<Function>(dlsym(handle_, function));
    if (!out) return failure(name_);
    if constexpr (sizeof...(more) == 0) return {};
    else return find(more...);
  }

 private:
  shared_library(const char* name, void* handle) noexcept : name_(name), handle_(handle) {}

  static std::unexpected<fault> failure(const char* name) {
    const char* const why = dlerror();
    return failed(fault_kind::unsupported,
                  fmt::format("{} cannot be loaded: {}", name, why ? why : "no reason given"));
  }

  const char* name_;
  void* handle_;
};

}  // namespace headway::base
