#include "launch/pmi_job.hpp"

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

#include "base/clock.hpp"
#include "base/log.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

// Names of users' cannot hold a '.', so they cannot meet ours.
constexpr std::string_view secret_name = ".secret";
constexpr std::int64_t ranks_max = 1 << 24;
constexpr std::uint64_t abort_patience_ns = 10'000'000'000u;  // then the caller ends by itself

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_';
  };
  return !name.empty() && name.size() <= card_name_bytes_max && std::ranges::all_of(name, allowed);
}

/// Whether `descriptor` is the one that our own mpiexec made for us: it writes the socket's inode
/// into HEADWAY_WIRE, so that a HEADWAY_WIRE inherited from an outer job means nothing.
bool is_ours(const environment& told, int descriptor) {
  struct stat found;
  const auto inode = told.number("HEADWAY_WIRE");
  return inode && fstat(descriptor, &found) == 0 &&
         static_cast<std::int64_t>(found.st_ino) == *inode;
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

std::string file_safe(std::string_view name) {
  std::string safe;
  for (const char c : name.substr(0, 48)) safe += is_name({&c, 1}) || c == '.' ? c : '_';
  if (safe == name && !safe.empty() && safe.front() != '.') return safe;
  std::array<unsigned char, 8> hash;
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(name.data()),
                     name.size(), nullptr, 0);
  if (!safe.empty() && safe.front() == '.') safe.front() = '_';
  safe += '-';
  for (const auto byte : hash) safe += fmt::format("{:02x}", byte);
  return safe;
}

base::result<std::unique_ptr<job>> pmi_job::inherited(const environment& told, int descriptor) {
  // Programs that a rank starts are not the rank: they must not find the descriptor.
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  auto made = std::make_unique<pmi_job>(descriptor);
  if (auto done = made->set_place(told.number("PMI_RANK"), told.number("PMI_SIZE")); !done)
    return std::unexpected(done.error());
  if (auto done = made->join(is_ours(told, descriptor)); !done)
    return std::unexpected(done.error());
  return made;
}

base::result<std::unique_ptr<job>> pmi_job::dialled(const environment& told) {
  const std::string address(told.find("PMI_PORT").value_or(""));
  const auto colon = address.rfind(':');
  if (colon == std::string::npos)
    return failed(fault_kind::bad_input, fmt::format("PMI_PORT={} is not host:port", address));
  const auto descriptor = dial(address.substr(0, colon), address.substr(colon + 1));
  if (!descriptor) return std::unexpected(descriptor.error());
  auto made = std::make_unique<pmi_job>(*descriptor);
  if (auto done = made->introduce(told); !done) return std::unexpected(done.error());
  if (auto done = made->join(false); !done) return std::unexpected(done.error());
  return made;
}

/// The PMI_PORT variant begins with who we are; the server answers in four lines.
base::result<> pmi_job::introduce(const environment& told) {
  const auto deadline_ns = start_deadline_ns();
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

base::result<> pmi_job::set_place(std::optional<std::int64_t> rank,
                                  std::optional<std::int64_t> size) {
  if (!rank || !size || *size < 1 || *size > ranks_max || *rank < 0 || *rank >= *size)
    return failed(fault_kind::bad_input, "the launcher gave no sensible PMI_RANK and PMI_SIZE");
  who_.rank = static_cast<int>(*rank);
  who_.size = static_cast<int>(*size);
  return {};
}

base::result<> pmi_job::join(bool ours) {
  auto welcome = wire_.ask(
      fmt::format("cmd=init pmi_version=1 pmi_subversion=1{}\n", ours ? " headway=1" : ""),
      "response_to_init", start_deadline_ns());
  if (!welcome) return std::unexpected(welcome.error());
  if (!welcome->succeeded() || welcome->number("pmi_version").value_or(1) != 1)
    return failed(fault_kind::bad_input, fmt::format("the launcher does not speak PMI-1: '{}'",
                                                     welcome->text().substr(0, 200)));
  return ours && welcome->number("headway") == 1 ? join_ours(*welcome) : join_any();
}

base::result<> pmi_job::join_ours(const pmi_line& welcome) {
  const auto hex = welcome.find("secret").value_or("");
  std::size_t size = 0;
  sodium_hex2bin(reinterpret_cast<unsigned char*>(secret_.data()), secret_.size(), hex.data(),
                 hex.size(), nullptr, &size, nullptr);
  if (size != secret_.size())
    return failed(fault_kind::bad_input, "mpiexec sent no secret for the job");
  secret_known_ = true;
  who_.launcher = "headway";
  who_.job_id = file_safe(welcome.find("kvsname").value_or(""));
  who_.app_number = static_cast<int>(welcome.number("appnum").value_or(-1));
  who_.universe_size = static_cast<int>(welcome.number("universe").value_or(-1));
  exchange_ = std::make_unique<bulk_exchange>(wire_, who_.size);
  return {};
}

base::result<> pmi_job::join_any() {
  const auto deadline_ns = start_deadline_ns();
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
  who_.job_id = file_safe(*name);
  who_.app_number = static_cast<int>(app->number("appnum").value_or(-1));
  who_.universe_size = static_cast<int>(universe->number("size").value_or(-1));
  const auto value_bytes_max =
      std::clamp<std::int64_t>(maxes->number("vallen_max").value_or(256), 32, 4096);
  exchange_ = std::make_unique<keyed_exchange>(wire_, std::string(*name), who_.rank,
                                               static_cast<std::size_t>(value_bytes_max));
  return {};
}

base::result<> pmi_job::publish(std::string_view name, std::span<const std::byte> value) {
  if (!is_name(name))
    return failed(fault_kind::bad_input, fmt::format("'{}' is no name to publish under", name));
  own_.insert_or_assign(std::string(name), std::vector(value.begin(), value.end()));
  return {};
}

base::result<> pmi_job::exchange() {
  if (!secret_known_ && who_.rank == 0) {
    if (sodium_init() < 0) return failed(fault_kind::system, "libsodium does not start");
    randombytes_buf(secret_.data(), secret_.size());
    own_.insert_or_assign(std::string(secret_name), std::vector(secret_.begin(), secret_.end()));
  }
  const auto packed = pack_card(own_);
  if (packed.size() > card_bytes_max)
    return failed(fault_kind::bad_input,
                  fmt::format("{} bytes are more than a rank may publish ({})", packed.size(),
                              card_bytes_max));
  if (auto done = exchange_->trade(packed); !done)
    return failed(done.error().kind,
                  fmt::format("exchange among {} ranks: {}", who_.size, done.error().text));
  cards_.clear();
  return secret_known_ ? base::result<>{} : agree_on_secret();
}

base::result<> pmi_job::agree_on_secret() {
  if (who_.rank != 0) {
    const auto given = card_of(0);
    if (!given) return std::unexpected(given.error());
    const auto found = (*given)->find(secret_name);
    if (found == (*given)->end() || found->second.size() != secret_.size())
      return failed(fault_kind::bad_input, "rank 0 has published no secret for the job");
    std::ranges::copy(found->second, secret_.begin());
  }
  secret_known_ = true;
  return {};
}

base::result<const card*> pmi_job::card_of(int rank) {
  if (rank == who_.rank) return &own_;
  if (const auto known = cards_.find(rank); known != cards_.end()) return &known->second;
  auto packed = exchange_->card_of(rank);
  if (!packed) return std::unexpected(packed.error());
  auto entries = unpack_card(*packed);
  if (!entries)
    return failed(fault_kind::bad_input,
                  fmt::format("what rank {} published came back damaged", rank));
  return &cards_.insert_or_assign(rank, *std::move(entries)).first->second;
}

base::result<std::vector<std::byte>> pmi_job::lookup(int rank, std::string_view name) {
  if (rank < 0 || rank >= who_.size)
    return failed(fault_kind::bad_input, fmt::format("there is no rank {} of {}", rank, who_.size));
  const auto entries = card_of(rank);
  if (!entries) return std::unexpected(entries.error());
  const auto found = (*entries)->find(name);
  if (found == (*entries)->end())
    return failed(fault_kind::peer_lost, fmt::format("rank {} has published no '{}'", rank, name));
  return found->second;
}

void pmi_job::abort(int exit_code, std::string_view why) noexcept {
  const auto deadline_ns = base::now_ns() + abort_patience_ns;
  const bool ours = who_.launcher == "headway";
  // Other launchers do not agree on how to carry the text, so it is said here.
  if (!ours && !why.empty())
    base::log(base::severity::error, "rank {}: the job is ended: {}", who_.rank, why);
  const auto request = ours ? fmt::format("cmd=abort exitcode={} message={}\n", exit_code,
                                          escaped(why.substr(0, 500)))
                            : fmt::format("cmd=abort exitcode={}\n", exit_code);
  if (wire_.send(request, deadline_ns)) wire_.wait_for_hang_up(deadline_ns);
}

base::result<> pmi_job::finish() {
  auto reply = wire_.ask("cmd=finalize\n", "finalize_ack", start_deadline_ns());
  if (!reply) return std::unexpected(reply.error());
  return {};
}

}  // namespace headway::launch
