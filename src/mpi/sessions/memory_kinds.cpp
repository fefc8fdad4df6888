#include "mpi/sessions/memory_kinds.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "base/assert.hpp"
#include "base/trimmed.hpp"

namespace headway::mpi {
namespace {

constexpr std::string_view always = "mpi,system";

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> made;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    made.push_back(base::trimmed(text.substr(begin, end - begin), " "));
    begin = end + 1;
  }
  return made;
}

/// Whether `kind` is `mpi` with one or more of its restrictors. No other kind here has any.
bool is_restricted_mpi(std::string_view kind) {
  const auto parts = parts_of(kind, ':');
  const auto is_restrictor = [](std::string_view each) {
    return each == "alloc_mem" || each == "win_allocate" || each == "win_allocate_shared";
  };
  return parts.size() > 1 && parts.front() == "mpi" &&
         std::all_of(parts.begin() + 1, parts.end(), is_restrictor);
}

}  // namespace

std::string supported_memory_kinds(std::string_view requested) {
  std::string made(always);
  std::vector<std::string_view> known;
  for (const auto kind : parts_of(requested, ',')) {
    if (!is_restricted_mpi(kind) || std::ranges::find(known, kind) != known.end()) continue;
    if (made.size() + kind.size() + 1 >= MPI_MAX_INFO_VAL) break;
    known.push_back(kind);
    made.append(",").append(kind);
  }
  HEADWAY_ASSERT(made.size() < MPI_MAX_INFO_VAL);
  return made;
}

std::string memory_kinds_of(const session_origin_ref& origin) {
  return origin ? origin->memory_kinds : std::string(always);
}

}  // namespace headway::mpi
