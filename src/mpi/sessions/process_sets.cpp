#include "mpi/sessions/process_sets.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "mpi/communicators/communicator.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi {
namespace {

// The sets that each process has. Those of node and socket are other ones on other nodes and
// sockets, as mpi://SELF is; a process that is bound to no socket alone has no set of that name.
constexpr std::string_view world_set = "mpi://WORLD", self_set = "mpi://SELF",
                           node_set = "headway://node", socket_set = "headway://socket";

/// Whether the character means the same with and without a percent-encoding.
bool is_unreserved(unsigned char c) {
  return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
}

/// In lower case, and without the percent-encodings that are not needed. A scheme has none.
std::string normalized(std::string_view name) {
  std::string made;
  const auto scheme_end = std::min(name.find(':'), name.size());
  for (std::size_t i = 0; i < name.size(); ++i) {
    auto c = static_cast<unsigned char>(name[i]);
    if (c == '%' && i > scheme_end && i + 2 < name.size()) {
      const char* const digits = name.data() + i + 1;
      unsigned char decoded = 0;
      const auto [end, error] = std::from_chars(digits, digits + 2, decoded, 16);
      if (error == std::errc() && end == digits + 2 && is_unreserved(decoded)) {
        c = decoded;
        i += 2;
      }
    }
    made.push_back(static_cast<char>(std::tolower(c)));
  }
  return made;
}

/// The processes of the job that are in the same place as this one.
template <class PlaceOf>
processes::membership_ref members_beside(PlaceOf place_of) {
  std::vector<processes::peer_id> found;
  for (const auto process : the_library.job->members().peers())
    if (place_of(process) == place_of(this_process())) found.push_back(process);
  return memberships().intern(processes::membership(found));
}

bool has_socket() { return the_library.runtime->package_of(this_process()) >= 0; }

}  // namespace

std::vector<std::string_view> process_set_names() {
  HEADWAY_ASSERT(the_library.runtime != nullptr);
  std::vector<std::string_view> names = {world_set, self_set, node_set};
  if (has_socket()) names.push_back(socket_set);
  return names;
}

processes::membership_ref process_set(std::string_view name) {
  HEADWAY_ASSERT(the_library.runtime != nullptr && the_library.job != nullptr);
  const auto& where = *the_library.runtime;
  if (is_same_set_name(name, world_set)) return the_library.job->shared_members();
  if (is_same_set_name(name, self_set))
    return memberships().intern(processes::membership(this_process(), 1));
  if (is_same_set_name(name, node_set))
    return members_beside([&](auto process) { return where.node_of(process); });
  if (is_same_set_name(name, socket_set) && has_socket())
    return members_beside(
        [&](auto process) { return std::pair(where.node_of(process), where.package_of(process)); });
  return nullptr;
}

bool is_same_set_name(std::string_view one, std::string_view other) {
  return normalized(one) == normalized(other);
}

}  // namespace headway::mpi
