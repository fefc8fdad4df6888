#include "launch/rendezvous/rendezvous_settings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/trimmed.hpp"
#include "launch/pmi1/pmi_line.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

bool split_address(std::string_view text, rendezvous_settings& out) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = decimal(text.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) return false;
  out.port = text.substr(colon + 1);
  text = text.substr(0, colon);
  const bool bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';  // IPv6
  out.host = bracketed ? text.substr(1, text.size() - 2) : text;
  return true;
}

constexpr std::string_view blanks = " \t\r";

base::result<std::string> read_private_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return base::failed_errno("HEADWAY_RENDEZVOUS: open " + path, errno);
  std::array<char, 4096> text;
  struct stat found = {};
  const bool told = fstat(descriptor, &found) == 0;
  const auto bytes = read(descriptor, text.data(), text.size());
  close(descriptor);
  if (!told || bytes < 0) return base::failed_errno("HEADWAY_RENDEZVOUS: read " + path, errno);
  if ((found.st_mode & 077) != 0)
    return failed(fault_kind::bad_input,
                  fmt::format("HEADWAY_RENDEZVOUS: others than its owner may read or write {}, "
                              "which holds a secret (mode {:o})",
                              path, found.st_mode & 0777));
  return std::string(text.data(), static_cast<std::size_t>(bytes));
}

base::result<> set(rendezvous_settings& out, std::string_view word, std::string_view value) {
  if (word == "address") {
    if (split_address(value, out)) return {};
    return failed(fault_kind::bad_input,
                  fmt::format("HEADWAY_RENDEZVOUS: '{}' is not HOST:PORT", value));
  }
  if (word == "secret") {
    if (out.secret.empty()) out.secret = value;
    return {};
  }
  if (word == "processes") {
    const auto count = decimal(value);
    if (!count || *count < 1 || *count > rendezvous_processes_max)
      return failed(fault_kind::bad_input,
                    fmt::format("HEADWAY_RENDEZVOUS: '{}' is no number of processes from 1 to {}",
                                value, rendezvous_processes_max));
    if (out.processes == 0) out.processes = static_cast<int>(*count);
    return {};
  }
  return failed(fault_kind::bad_input,
                fmt::format("HEADWAY_RENDEZVOUS: '{}' is not address, secret or processes", word));
}

}  // namespace

base::result<rendezvous_settings> parse_rendezvous(std::string_view text,
                                                   rendezvous_settings known) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = base::trimmed(line, blanks);
    if (line.empty() || line.front() == '#') continue;
    const auto space = std::min(line.find_first_of(" \t"), line.size());
    if (auto done = set(known, line.substr(0, space), base::trimmed(line.substr(space), blanks));
        !done)
      return std::unexpected(done.error());
  }
  return known;
}

base::result<rendezvous_settings> rendezvous_from(std::string_view where,
                                                  std::optional<std::string_view> secret,
                                                  int processes) {
  rendezvous_settings made{
      .host = {}, .port = {}, .secret = std::string(secret.value_or("")), .processes = processes};
  if (where.find('/') != std::string_view::npos) {
    const auto text = read_private_file(std::string(where));
    if (!text) return std::unexpected(text.error());
    auto parsed = parse_rendezvous(*text, std::move(made));
    if (!parsed) return parsed;
    made = std::move(*parsed);
    if (made.host.empty())
      return failed(fault_kind::bad_input,
                    fmt::format("HEADWAY_RENDEZVOUS: {} has no line 'address'", where));
  } else if (auto done = set(made, "address", where); !done) {
    return std::unexpected(done.error());
  }
  if (made.secret.size() < rendezvous_secret_bytes_min)
    return failed(fault_kind::bad_input,
                  fmt::format("HEADWAY_RENDEZVOUS needs a secret of at least {} letters "
                              "(HEADWAY_RENDEZVOUS_SECRET, or a line 'secret' in its file)",
                              rendezvous_secret_bytes_min));
  if (made.processes == 0) made.processes = 2;
  return made;
}

}  // namespace headway::launch
