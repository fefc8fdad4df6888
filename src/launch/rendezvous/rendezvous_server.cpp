#include "launch/rendezvous/rendezvous_server.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"

namespace headway::launch {
namespace {

using stage = rendezvous_handshake::stage;

constexpr std::uint64_t handshake_ns_max = 5'000'000'000;
constexpr int refused_named_max = 8;

}  // namespace

std::size_t rendezvous_server::guests() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      pending_, [](const auto& c) { return c->talk.at() == stage::judging; }));
}

bool rendezvous_server::full() const noexcept {
  return pending_.size() >= unauthenticated_max + guests();
}

bool rendezvous_server::make_room() noexcept {
  auto oldest = pending_.end();
  for (auto at = pending_.begin(); at != pending_.end(); ++at)
    if (!(*at)->has_sent && (oldest == pending_.end() || (*at)->since_ns < (*oldest)->since_ns))
      oldest = at;
  if (oldest == pending_.end() || base::machine_now_ns() - (*oldest)->since_ns < silent_ns)
    return false;
  pending_.erase(oldest);
  return true;
}

rendezvous_decision rendezvous_server::decision(admission how) const {
  return {.how = how, .processes = static_cast<std::uint32_t>(where_.processes)};
}

base::result<std::vector<stream_socket>> rendezvous_server::gather(const job_nonce& nonce,
                                                                   std::uint64_t deadline_ns) {
  HEADWAY_ASSERT(where_.processes >= 1 && listener_.open());
  const auto expected = static_cast<std::size_t>(where_.processes - 1);
  while (guests() < expected) {
    if (base::machine_now_ns() >= deadline_ns)
      return base::failed(
          base::fault_kind::timed_out,
          fmt::format("{} of {} processes came to the rendezvous at {} within {} s "
                      "(HEADWAY_START_TIMEOUT){}",
                      guests() + 1, where_.processes, where_.address(), how_.start_timeout_s(),
                      refused_ > 0 ? "; others did not know the secret" : ""));
    wait(deadline_ns);
    accept_all();
    std::erase_if(pending_, [&](const auto& c) { return !advance(*c); });
  }
  std::vector<stream_socket> seated;
  for (auto& c : pending_) {
    if (c->talk.at() != stage::judging) continue;
    const bool welcome = seated.size() < expected;
    auto answer = decision(welcome ? admission::granted : admission::full);
    if (welcome) answer.rank = static_cast<std::uint32_t>(seated.size() + 1);
    answer.job_nonce = nonce;
    c->talk.decide(answer);
    static_cast<void>(send_output(*c));  // if the guest is gone, the exchange will fail
    if (welcome) seated.push_back(std::move(c->socket));
  }
  HEADWAY_ASSERT(seated.size() == expected);
  return seated;
}

void rendezvous_server::wait(std::uint64_t deadline_ns) const {
  constexpr std::uint64_t look_again_ns = 100'000'000;
  std::vector<pollfd> all;
  if (accepting_) all.push_back({listener_.descriptor(), POLLIN, 0});
  for (const auto& c : pending_) all.push_back({c->socket.descriptor(), POLLIN, 0});
  const auto now = base::machine_now_ns();
  const auto rest = std::min(deadline_ns > now ? deadline_ns - now : 0, look_again_ns);
  poll(all.data(), all.size(), static_cast<int>(rest / 1'000'000) + 1);
}

void rendezvous_server::accept_all() {
  // Accepts as many as there is room for, so that those that have sent something are read before
  // they count as silent.
  for (std::size_t turn = 0; turn < unauthenticated_max; ++turn) {
    accepting_ = !full() || make_room();
    if (!accepting_) return;
    stream_socket found(
        accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!found.open()) return cannot_accept(errno);
    pending_.push_back(std::make_unique<pending_connection>(
        std::move(found), rendezvous_handshake::host(key_), base::machine_now_ns()));
  }
}

/// Tried again after a moment.
void rendezvous_server::cannot_accept(int error) {
  accepting_ = error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM;
  if (!accepting_ && !std::exchange(said_why_, true))
    base::log(base::severity::error, "no connection is accepted at the rendezvous at {}: {}",
              where_.address(), base::failed_errno("accept4", error).error().text);
}

bool rendezvous_server::send_output(pending_connection& c) {
  // A few bytes on a fresh connection fit into its buffer; if they do not, the other side is no
  // guest.
  const auto output = c.talk.output();
  if (!c.socket.send(output, base::machine_now_ns())) return false;
  c.talk.sent(output.size());
  return true;
}

bool rendezvous_server::refuse_unauthenticated(const pending_connection& c) {
  if (refused_++ < refused_named_max)
    base::log(base::severity::warning,
              "a process at {} does not know the secret of the rendezvous at {}",
              c.socket.other_end(), where_.address());
  return false;
}

bool rendezvous_server::advance(pending_connection& c) {
  for (;;) {
    const auto at = c.talk.at();
    const bool proved = at == stage::judging;
    if (!proved && base::machine_now_ns() > c.since_ns + handshake_ns_max)
      return refuse_unauthenticated(c);
    std::byte unexpected;  // a guest sends nothing before it is welcome
    const auto to = proved ? std::span(&unexpected, 1) : c.talk.wanted();
    const auto got = recv(c.socket.descriptor(), to.data(), to.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (proved) return false;
    if (got <= 0) return at == stage::proof ? refuse_unauthenticated(c) : false;
    c.has_sent = true;
    c.talk.received(static_cast<std::size_t>(got));
    if (c.talk.at() == stage::broken) return refuse_unauthenticated(c);
    if (c.talk.at() == stage::judging &&
        c.talk.processes() != static_cast<std::uint32_t>(where_.processes)) {
      base::log(base::severity::warning,
                "a process at {} expects {} processes at the rendezvous, not {}",
                c.socket.other_end(), c.talk.processes(), where_.processes);
      c.talk.decide(decision(admission::other_count));
      static_cast<void>(send_output(c));  // it may be gone
      return false;
    }
    if (!send_output(c)) return false;
  }
}

}  // namespace headway::launch
