#pragma once

#include <string_view>
#include <vector>

#include "processes/membership.hpp"

namespace headway::mpi {

/// The names of the process sets that this process is in (MPI-5.0 section 11.3.2). A process that
/// is not bound within one package is in no set of a socket. Only while the runtime is up.
[[nodiscard]] std::vector<std::string_view> process_set_names();

/// The processes of the set with this name, which is compared as a URI; null: there is none.
[[nodiscard]] processes::membership_ref process_set(std::string_view name);

/// Whether two names are the same URI: of a scheme and a host, which are not case-sensitive and may
/// have characters in the form %41 that need none (RFC 3986, section 6.2.2).
[[nodiscard]] bool is_same_set_name(std::string_view one, std::string_view other);

}  // namespace headway::mpi
