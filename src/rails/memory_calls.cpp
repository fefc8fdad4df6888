#include "rails/memory_calls.hpp"

#include <algorithm>
#include <utility>

#include "base/lock_guard.hpp"

namespace headway::rails {

std::optional<std::uint64_t> memory_calls::begin(peer_id peer, std::span<std::byte> to,
                                                 std::uint64_t cookie) noexcept {
  const base::lock_guard guard(lock_);
  const auto free = std::ranges::find(calls_, 0u, &call::answer);
  if (free == calls_.end()) return std::nullopt;
  const auto id = answers_.add({.bytes = to,
                                .rights = access::put,
                                .who = process_set::only(peer),
                                .token = static_cast<std::uint64_t>(free - calls_.begin())});
  if (!id) return std::nullopt;
  *free = {.answer = *id | answer_bit, .cookie = cookie, .bytes_left = to.size(), .peer = peer};
  return free->answer;
}

std::optional<std::uint64_t> memory_calls::end(std::uint64_t answer) noexcept {
  std::uint64_t cookie = 0;
  {
    const base::lock_guard guard(lock_);
    const auto found = std::ranges::find(calls_, answer, &call::answer);
    if (answer == 0 || found == calls_.end()) return std::nullopt;
    cookie = std::exchange(*found, {}).cookie;
  }
  answers_.remove(answer & ~answer_bit);
  return cookie;
}

std::optional<std::uint64_t> memory_calls::arrived(std::uint64_t token,
                                                   std::size_t bytes) noexcept {
  std::uint64_t answer = 0;
  {
    const base::lock_guard guard(lock_);
    call& c = calls_[token % calls_max];
    c.bytes_left -= std::min(bytes, c.bytes_left);
    if (c.bytes_left == 0) answer = c.answer;
  }
  return end(answer);
}

std::optional<memory_calls::ended> memory_calls::refused(peer_id peer,
                                                         std::uint64_t answer) noexcept {
  bool flushes = false;
  {
    const base::lock_guard guard(lock_);
    const auto found = std::ranges::find(calls_, answer, &call::answer);
    if (answer == 0 || found == calls_.end() || found->peer != peer) return std::nullopt;
    flushes = found->bytes_left == 0;
  }
  const auto cookie = end(answer);
  if (!cookie) return std::nullopt;
  return ended{.cookie = *cookie, .how = flushes ? event_kind::sent : event_kind::failed};
}

std::optional<std::uint64_t> memory_calls::drop(peer_id peer) noexcept {
  std::uint64_t answer = 0;
  {
    const base::lock_guard guard(lock_);
    for (const call& c : calls_)
      if (c.answer != 0 && c.peer == peer) answer = c.answer;
  }
  return end(answer);
}

}  // namespace headway::rails
