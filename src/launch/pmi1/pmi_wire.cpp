#include "launch/pmi1/pmi_wire.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "launch/ready.hpp"

namespace headway::launch {
namespace {

using base::failed;
using base::fault_kind;

// Intel's server announces values of 4096 bytes, all others 1024; room for both and the rest of a
// line.
constexpr std::size_t line_bytes_max = 16'384;

std::unexpected<base::fault> hung_up(std::string_view awaited) {
  return failed(fault_kind::peer_lost,
                fmt::format("the launcher hung up while {} was awaited", awaited));
}

}  // namespace

pmi_wire::pmi_wire(int descriptor, const settings& how)
    : how_(how), descriptor_(descriptor), received_(line_bytes_max) {
  HEADWAY_ASSERT(descriptor >= 0);
}

pmi_wire::~pmi_wire() { close(descriptor_); }

std::unexpected<base::fault> pmi_wire::timed_out(std::string_view awaited) const {
  return failed(fault_kind::timed_out,
                fmt::format("the launcher gave no {} within {} s (HEADWAY_START_TIMEOUT)", awaited,
                            how_.start_timeout_s()));
}

base::result<> pmi_wire::send(std::string_view bytes, std::uint64_t deadline_ns) {
  const base::lock_guard held(send_lock_);
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!ready(descriptor_, POLLOUT, deadline_ns)) return timed_out("room for a request");
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return hung_up("room for a request");
    } else if (errno != EINTR) {
      return base::failed_errno("send to the launcher", errno);
    }
  }
  return {};
}

base::result<> pmi_wire::read_more(std::string_view awaited, std::uint64_t deadline_ns) {
  char block[4096];
  for (;;) {
    if (!ready(descriptor_, POLLIN, deadline_ns)) return timed_out(awaited);
    const auto got = recv(descriptor_, block, sizeof block, MSG_DONTWAIT);
    if (got > 0) {
      received_.append({block, static_cast<std::size_t>(got)});
      return {};
    }
    if (got == 0 || errno == ECONNRESET) return hung_up(awaited);
    if (errno != EAGAIN && errno != EINTR)
      return base::failed_errno("receive from the launcher", errno);
  }
}

base::result<pmi_line> pmi_wire::receive(std::string_view reply, std::uint64_t deadline_ns) {
  for (;;) {
    if (const auto text = received_.take_line()) {
      auto line = pmi_line::parse(*text);
      if (line && line->command() == reply) return *std::move(line);
      return failed(fault_kind::bad_input,
                    fmt::format("the launcher said '{}' where '{}' was expected",
                                escaped(text->substr(0, 80)), reply));
    }
    if (received_.overlong())
      return failed(fault_kind::bad_input,
                    fmt::format("the launcher sent a line of more than {} bytes where '{}' was "
                                "expected",
                                line_bytes_max, reply));
    if (auto more = read_more(reply, deadline_ns); !more) return std::unexpected(more.error());
  }
}

base::result<pmi_line> pmi_wire::ask(std::string_view request, std::string_view reply,
                                     std::uint64_t deadline_ns) {
  HEADWAY_ASSERT(request.ends_with('\n'));
  if (auto sent = send(request, deadline_ns); !sent) return std::unexpected(sent.error());
  return receive(reply, deadline_ns);
}

void pmi_wire::wait_for_hang_up(std::uint64_t deadline_ns) noexcept {
  (void)ready(descriptor_, 0, deadline_ns);  // POLLHUP and POLLERR are always reported
}

}  // namespace headway::launch
