#include "tools/mpiexec/hosts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <ranges>
#include <sstream>

namespace headway::mpiexec {
namespace {

bool take_slots(std::string_view text, int& into) {
  const auto end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, into);
  return error == std::errc{} && at == end && into >= 1;
}

/// "name" or "name:slots".
base::result<host> host_of(std::string_view text) {
  host made;
  const auto colon = text.rfind(':');
  const bool address = std::ranges::count(text, ':') > 1;  // of IPv6
  if (colon == text.npos || address) made.name = text;
  else made.name = text.substr(0, colon);
  if (made.name.empty() ||
      (made.name.size() < text.size() && !take_slots(text.substr(colon + 1), made.slots)))
    return base::failed(base::fault_kind::bad_input, fmt::format("{} is not a host", text));
  return made;
}

/// One line of a file of hosts; nothing if it is empty.
base::result<std::vector<host>> host_of_line(const std::string& line) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  if (!(words >> word)) return {};
  auto made = host_of(word);
  if (!made) return std::unexpected(made.error());
  while (words >> word) {
    const bool slots = word.starts_with("slots=");
    const bool other = word.find('=') != word.npos && !slots;  // "max_slots=4", "ifhn=name"
    if (!other && !(slots && take_slots(std::string_view(word).substr(6), made->slots)))
      return base::failed(base::fault_kind::bad_input, fmt::format("{} is not understood", word));
  }
  return std::vector{std::move(*made)};
}

std::string own_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string_view short_name(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

base::result<std::vector<host>> hosts_of_list(std::string_view list) {
  std::vector<host> made;
  for (const auto part : list | std::views::split(',')) {
    auto one = host_of(std::string_view(part));
    if (!one) return std::unexpected(std::move(one.error()));
    const auto known = std::ranges::find(made, one->name, &host::name);
    if (known == made.end()) made.push_back(std::move(*one));
    else known->slots = std::max(known->slots, 1) + std::max(one->slots, 1);
  }
  return made;
}

base::result<std::vector<host>> hosts_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return base::failed_errno(path, errno);
  std::vector<host> made;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    auto found = host_of_line(line);
    if (!found)
      return base::failed(base::fault_kind::bad_input,
                          fmt::format("{}, line {}: {}", path, number, found.error().text));
    made.insert(made.end(), found->begin(), found->end());
  }
  if (made.empty())
    return base::failed(base::fault_kind::bad_input, fmt::format("{} names no host", path));
  return made;
}

bool all_here(const std::vector<host>& hosts) {
  const auto own = own_name();
  return std::ranges::all_of(hosts, [&](const host& one) {
    return one.name == "localhost" || one.name == "127.0.0.1" || one.name == "::1" ||
           one.name == own || short_name(one.name) == own || one.name == short_name(own);
  });
}

}  // namespace headway::mpiexec
