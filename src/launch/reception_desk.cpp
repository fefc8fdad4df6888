#include "launch/reception_desk.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "launch/tunables.hpp"

namespace headway::launch {
namespace {

constexpr std::uint64_t visit_ns_max = 5'000'000'000;
constexpr int strangers_named_max = 8;

}  // namespace

std::size_t reception_desk::guests() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      visitors_, [](const auto& v) { return v->talk.at() == greeting::stage::judging; }));
}

base::result<std::vector<meeting_socket>> reception_desk::gather(std::span<const std::byte> nonce,
                                                                 std::uint64_t deadline_ns) {
  const auto expected = static_cast<std::size_t>(where_.processes - 1);
  while (guests() < expected) {
    if (base::now_ns() >= deadline_ns)
      return base::failed(
          base::fault_kind::timed_out,
          fmt::format("{} of {} processes came to the rendezvous at {} within {} s "
                      "(HEADWAY_START_TIMEOUT){}",
                      guests() + 1, where_.processes, where_.address(), start_timeout.get(),
                      strangers_ > 0 ? "; others did not know the secret" : ""));
    wait(deadline_ns);
    admit();
    std::erase_if(visitors_, [&](const auto& v) { return !attend(*v, nonce); });
  }
  std::vector<meeting_socket> seated;
  for (auto& v : visitors_) {
    if (v->talk.at() != greeting::stage::judging) continue;
    const bool welcome = seated.size() < expected;
    const auto rank = static_cast<std::uint32_t>(welcome ? seated.size() + 1 : 0);
    v->talk.decide(welcome ? reception::welcome : reception::full, rank, nonce);
    static_cast<void>(answer(*v));  // if it has gone, the exchange will say so
    if (welcome) seated.push_back(std::move(v->socket));
  }
  return seated;
}

void reception_desk::wait(std::uint64_t deadline_ns) const {
  constexpr std::uint64_t look_again_ns = 100'000'000;
  std::vector<pollfd> all;
  if (visitors_.size() < visitors_max + guests())
    all.push_back({listener_.descriptor(), POLLIN, 0});
  for (const auto& v : visitors_) all.push_back({v->socket.descriptor(), POLLIN, 0});
  const auto now = base::now_ns();
  const auto rest = std::min(deadline_ns > now ? deadline_ns - now : 0, look_again_ns);
  poll(all.data(), all.size(), static_cast<int>(rest / 1'000'000) + 1);
}

void reception_desk::admit() {
  while (visitors_.size() < visitors_max + guests()) {
    meeting_socket caller(
        accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!caller.open()) return;
    visitors_.push_back(std::make_unique<visitor>(std::move(caller), greeting::host(key_)));
    visitors_.back()->until_ns = base::now_ns() + visit_ns_max;
    visitors_.back()->talk.expect(static_cast<std::uint32_t>(where_.processes));
  }
}

bool reception_desk::answer(visitor& v) {
  // A few bytes on a fresh connection: they fit, or it is nobody that we want.
  return v.socket.send(v.talk.output(), base::now_ns()).has_value();
}

bool reception_desk::stranger(const visitor& v) {
  if (strangers_++ < strangers_named_max)
    base::log(base::severity::warning,
              "a caller from {} does not know the secret of the rendezvous at {}",
              v.socket.other_end(), where_.address());
  return false;
}

bool reception_desk::attend(visitor& v, std::span<const std::byte> nonce) {
  for (;;) {
    const bool waits = v.talk.at() == greeting::stage::judging;
    const auto expected = waits ? v.heard.size() + 1 : v.talk.expected_bytes();
    if (!waits && base::now_ns() > v.until_ns) return stranger(v);
    const auto had = v.heard.size();
    v.heard.resize(expected);
    const auto got = recv(v.socket.descriptor(), v.heard.data() + had, expected - had, 0);
    v.heard.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (waits) return false;  // it has nothing to say before it is welcome: it has gone
    if (got <= 0) return v.talk.at() == greeting::stage::proof ? stranger(v) : false;
    if (v.heard.size() < expected) continue;
    const auto at = v.talk.received(v.heard);
    v.heard.clear();
    if (at == greeting::stage::broken) return stranger(v);
    if (at == greeting::stage::judging &&
        v.talk.processes() != static_cast<std::uint32_t>(where_.processes)) {
      base::log(base::severity::warning,
                "a caller from {} expects {} processes at the rendezvous, not {}",
                v.socket.other_end(), v.talk.processes(), where_.processes);
      v.talk.decide(reception::other_count, 0, nonce);
      static_cast<void>(answer(v));  // it may have gone
      return false;
    }
    if (!answer(v)) return false;
  }
}

}  // namespace headway::launch
