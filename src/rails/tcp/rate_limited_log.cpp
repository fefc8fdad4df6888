#include "rails/tcp/rate_limited_log.hpp"

#include "base/log.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(complaint::count_)> texts = {
    "hung up on {}: what it said is not of this job",
    "hung up on {}: no complete handshake in time",
    "too many callers that have not proved themselves yet, the last is {}: new ones wait",
    "no descriptor or memory for a caller, the last was {}",
    "no connection to {}",
    "what comes from {} does not verify, so it was changed on the way: connection closed",
    "the connection to {} was lost and is back: both sides go on where they were",
};

}  // namespace

void rate_limited_log::say(complaint kind, std::string_view who, std::uint64_t now_ns) noexcept {
  auto& m = kinds_[static_cast<std::size_t>(kind)];
  if (now_ns < m.quiet_until_ns) {
    ++m.swallowed;
    return;
  }
  m.quiet_until_ns = now_ns + period_ns;
  const auto text = fmt::format(fmt::runtime(texts[static_cast<std::size_t>(kind)]), who);
  if (m.swallowed == 0) {
    base::log(base::severity::warning, "tcp: {}", text);
  } else {
    base::log(base::severity::warning, "tcp: {} ({} more since the last such line)", text,
              m.swallowed);
  }
  m.swallowed = 0;
}

}  // namespace headway::rails::tcp
