#include "tools/headway/info.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "tools/headway/facts.hpp"

namespace headway::tool {

int info(const info_options& wanted) {
  const auto found = gather(wanted.json || (!wanted.mpi && !wanted.tunables));
  if (!found) {
    fmt::print(stderr, "headway: info: {}\n", found.error().text);
    return 1;
  }
  std::string text;
  if (wanted.json) {
    text = json_text(*found);
  } else {
    if (wanted.tunables) text += tunables_text(*found);
    if (wanted.mpi) text += functions_text(*found);
    if (!wanted.tunables && !wanted.mpi) text = overview_text(*found) + tunables_text(*found);
  }
  fmt::print("{}", text);
  return 0;
}

}  // namespace headway::tool
