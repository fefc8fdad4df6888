#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace headway::base {

void assertion_failed(const char* text, const char* file, int line) noexcept {
  std::fprintf(stderr, "headway: bug: %s (%s:%d)\n", text, file, line);
  std::abort();
}

}  // namespace headway::base
