#include "launch/pmi1/pmi1_launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sodium.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

constexpr std::int64_t our_value_bytes_max = 1024;  // the most that our mpiexec takes as one value
constexpr std::uint64_t question_patience_ns = 1'000'000'000;
// afterwards the caller ends by itself
constexpr std::uint64_t abort_patience_ns = 10'000'000'000u;

/// Whether `descriptor` is the one that our own mpiexec made for this process: mpiexec writes the
/// socket's inode into HEADWAY_WIRE, so a HEADWAY_WIRE inherited from an outer job has no effect.
base::result<bool> is_ours(const environment& told, int descriptor) {
  struct stat found;
  const auto inode = told.number("HEADWAY_WIRE");
  if (!inode) return false;
  if (fstat(descriptor, &found) != 0) return base::failed_errno("fstat of PMI_FD", errno);
  return static_cast<std::int64_t>(found.st_ino) == *inode;
}

base::result<int> dial(const std::string& host, const std::string& port) {
  addrinfo wish{}, *found = nullptr;
  wish.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(host.c_str(), port.c_str(), &wish, &found))
    return failed(fault_kind::system,
                  fmt::format("PMI_PORT={}:{}: {}", host, port, gai_strerror(error)));
  int error = ECONNREFUSED, descriptor = -1;
  for (auto at = found; at && descriptor < 0; at = at->ai_next) {
    descriptor = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (descriptor >= 0 && connect(descriptor, at->ai_addr, at->ai_addrlen) == 0) break;
    error = errno;
    if (descriptor >= 0) close(std::exchange(descriptor, -1));
  }
  freeaddrinfo(found);
  if (descriptor < 0)
    return base::failed_errno(fmt::format("connect to PMI_PORT={}:{}", host, port), error);
  return descriptor;
}

}  // namespace

base::result<std::unique_ptr<launcher>> pmi1_launcher::inherited(const environment& told,
                                                                 int descriptor,
                                                                 const settings& how) {
  // Programs that a rank starts must not inherit the descriptor, because they are not the rank.
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  auto made = std::make_unique<pmi1_launcher>(descriptor, how);
  if (auto done = made->set_place(told.number("PMI_RANK"), told.number("PMI_SIZE")); !done)
    return std::unexpected(done.error());
  const auto ours = is_ours(told, descriptor);
  if (!ours) return std::unexpected(ours.error());
  if (auto done = made->join(*ours); !done) return std::unexpected(done.error());
  return made;
}

base::result<std::unique_ptr<launcher>> pmi1_launcher::dialled(const environment& told,
                                                               const settings& how) {
  const std::string address(told.find("PMI_PORT").value_or(""));
  const auto colon = address.rfind(':');
  if (colon == std::string::npos)
    return failed(fault_kind::bad_input, fmt::format("PMI_PORT={} is not host:port", address));
  const auto descriptor = dial(address.substr(0, colon), address.substr(colon + 1));
  if (!descriptor) return std::unexpected(descriptor.error());
  auto made = std::make_unique<pmi1_launcher>(*descriptor, how);
  if (auto done = made->introduce(told); !done) return std::unexpected(done.error());
  if (auto done = made->join(false); !done) return std::unexpected(done.error());
  return made;
}

/// Over PMI_PORT the client first sends its PMI_ID; the server replies with rank and size, in four
/// lines.
base::result<> pmi1_launcher::introduce(const environment& told) {
  const auto deadline_ns = wire_.deadline_ns();
  const auto request = fmt::format("cmd=initack pmiid={}\n", told.find("PMI_ID").value_or("0"));
  auto ack = wire_.ask(request, "initack", deadline_ns);
  if (!ack) return std::unexpected(ack.error());
  auto rank = ack->number("rank"), size = ack->number("size");
  for (int line = 0; line < 3; ++line) {
    auto set = wire_.receive("set", deadline_ns);
    if (!set) return std::unexpected(set.error());
    if (set->find("rank")) rank = set->number("rank");
    if (set->find("size")) size = set->number("size");
  }
  return set_place(rank, size);
}

base::result<> pmi1_launcher::set_place(std::optional<std::int64_t> rank,
                                        std::optional<std::int64_t> size) {
  if (!rank || !size || !is_place(*rank, *size))
    return failed(fault_kind::bad_input, "the launcher gave no sensible PMI_RANK and PMI_SIZE");
  who_.rank = static_cast<int>(*rank);
  who_.size = static_cast<int>(*size);
  return {};
}

base::result<> pmi1_launcher::join(bool ours) {
  auto welcome = wire_.ask(
      fmt::format("cmd=init pmi_version=1 pmi_subversion=1{}\n", ours ? " headway=1" : ""),
      "response_to_init", wire_.deadline_ns());
  if (!welcome) return std::unexpected(welcome.error());
  if (!welcome->succeeded() || welcome->number("pmi_version").value_or(1) != 1)
    return failed(fault_kind::bad_input, fmt::format("the launcher does not speak PMI-1: '{}'",
                                                     welcome->text().substr(0, 200)));
  return ours && welcome->number("headway") == 1 ? join_ours(*welcome) : join_any();
}

base::result<> pmi1_launcher::join_ours(const pmi_line& welcome) {
  const auto hex = welcome.find("secret").value_or("");
  auto& secret = secret_.emplace();
  std::size_t size = 0;
  sodium_hex2bin(reinterpret_cast<unsigned char*>(secret.data()), secret.size(), hex.data(),
                 hex.size(), nullptr, &size, nullptr);
  if (size != secret.size())
    return failed(fault_kind::bad_input, "mpiexec sent no secret for the job");
  who_.launcher = "headway";
  who_.app_number = static_cast<int>(welcome.number("appnum").value_or(-1));
  who_.universe_size = static_cast<int>(welcome.number("universe").value_or(-1));
  use_space(welcome.find("kvsname").value_or(""), our_value_bytes_max);
  return {};
}

base::result<> pmi1_launcher::join_any() {
  const auto deadline_ns = wire_.deadline_ns();
  auto maxes = wire_.ask("cmd=get_maxes\n", "maxes", deadline_ns);
  if (!maxes) return std::unexpected(maxes.error());
  auto app = wire_.ask("cmd=get_appnum\n", "appnum", deadline_ns);
  if (!app) return std::unexpected(app.error());
  auto universe = wire_.ask("cmd=get_universe_size\n", "universe_size", deadline_ns);
  if (!universe) return std::unexpected(universe.error());
  auto space = wire_.ask("cmd=get_my_kvsname\n", "my_kvsname", deadline_ns);
  if (!space) return std::unexpected(space.error());
  const auto name = space->find("kvsname");
  if (!name || name->empty())
    return failed(fault_kind::bad_input, "the launcher has no name for the job (kvsname)");
  who_.launcher = "pmi-1";
  who_.app_number = static_cast<int>(app->number("appnum").value_or(-1));
  who_.universe_size = static_cast<int>(universe->number("size").value_or(-1));
  use_space(*name, maxes->number("vallen_max").value_or(256));
  return {};
}

void pmi1_launcher::use_space(std::string_view name, std::int64_t value_bytes_max) {
  who_.job_id = file_safe(name);
  const auto bytes = static_cast<std::size_t>(std::clamp<std::int64_t>(value_bytes_max, 32, 4096));
  values_.emplace(wire_, std::string(name), who_.rank, bytes);
}

base::result<> pmi1_launcher::publish(std::span<const std::byte> value) {
  HEADWAY_ASSERT(values_);  // it has joined
  if (auto done = values_->put(value); !done) return done;
  return barrier();
}

base::result<> pmi1_launcher::barrier() {
  const auto reply = wire_.ask("cmd=barrier_in\n", "barrier_out", wire_.deadline_ns());
  if (!reply && reply.error().kind == fault_kind::timed_out && who_.launcher == "headway")
    return failed(fault_kind::timed_out, reply.error().text + missing_ranks());
  if (!reply) return std::unexpected(reply.error());
  if (!reply->succeeded())
    return failed(fault_kind::bad_input, fmt::format("the launcher refused a barrier: '{}'",
                                                     reply->text().substr(0, 200)));
  return {};
}

base::result<std::vector<std::byte>> pmi1_launcher::value_of(int rank) {
  HEADWAY_ASSERT(values_ && is_place(rank, who_.size));
  return values_->value_of(rank);
}

base::result<pid_t> pmi1_launcher::spawn(const spawn_request& what) {
  if (who_.launcher != "headway") return launcher::spawn(what);
  auto wanted = what;
  std::error_code error;  // then mpiexec's own directory
  if (wanted.directory.empty()) wanted.directory = std::filesystem::current_path(error).string();
  const auto word = wanted.packed();
  if (word.size() > spawn_request::packed_bytes_max)
    return failed(fault_kind::bad_input, "the programs to start have too many arguments");
  const auto reply = wire_.ask(fmt::format("cmd=headway_spawn job={}\n", word), "headway_spawn",
                               wire_.deadline_ns());
  if (!reply) return std::unexpected(reply.error());
  const auto process = reply->number("pid");
  if (!reply->succeeded() || !process)
    return failed(fault_kind::system, unescaped(reply->find("msg").value_or("mpiexec refused it")));
  return static_cast<pid_t>(*process);
}

/// "; not there yet: rank 2,3", if our mpiexec still replies.
std::string pmi1_launcher::missing_ranks() {
  const auto reply = wire_.ask("cmd=headway_missing\n", "headway_missing",
                               base::machine_now_ns() + question_patience_ns);
  const auto ranks = reply ? reply->find("ranks") : std::nullopt;
  return ranks ? fmt::format("; not there yet: rank {}", *ranks) : std::string();
}

void pmi1_launcher::abort(int exit_code, std::string_view why) noexcept {
  const auto deadline_ns = base::machine_now_ns() + abort_patience_ns;
  const bool ours = who_.launcher == "headway";
  // Launchers differ in how an abort transmits its text, so it is written to the log here.
  if (!ours && !why.empty())
    base::log(base::severity::error, "rank {}: the job is ended: {}", who_.rank, why);
  const auto request = ours ? fmt::format("cmd=abort exitcode={} message={}\n", exit_code,
                                          escaped(why.substr(0, 500)))
                            : fmt::format("cmd=abort exitcode={}\n", exit_code);
  if (wire_.send(request, deadline_ns)) wire_.wait_for_hang_up(deadline_ns);
}

base::result<> pmi1_launcher::finish() {
  auto reply = wire_.ask("cmd=finalize\n", "finalize_ack", wire_.deadline_ns());
  if (!reply) return std::unexpected(reply.error());
  return {};
}

}  // namespace headway::launch
