#include "runtime/counted_rail.hpp"

#include "progress/core/meter.hpp"
#include "progress/waiting/thread_record.hpp"

namespace headway::runtime {
namespace {

bool in_background() noexcept {
  const auto* measured = progress::this_thread().measured;
  return measured && measured->in_background();
}

}  // namespace

void counted_rail::count_out(std::uint64_t bytes) noexcept {
  packets_out_.fetch_add(1, std::memory_order_relaxed);
  bytes_out_.fetch_add(bytes, std::memory_order_relaxed);
}

std::uint64_t counted_rail::take_posted(std::uint64_t cookie) noexcept {
  const base::lock_guard hold(posted_lock_);
  const auto found = posted_.extract(cookie);
  return found ? found.mapped() : 0;
}

template <class Start>
rails::post counted_rail::counted(std::uint64_t bytes, std::uint64_t cookie, bool may_be_posted,
                                  Start&& start) noexcept {
  if (may_be_posted) {  // before its `sent` can be reported
    const base::lock_guard hold(posted_lock_);
    posted_[cookie] = bytes;
  }
  const auto answer = start();
  if (answer == rails::post::done || answer == rails::post::posted) count_out(bytes);
  if (answer == rails::post::posted) return answer;
  if (may_be_posted) static_cast<void>(take_posted(cookie));
  if (answer == rails::post::done && in_background())
    bytes_overlap_.fetch_add(bytes, std::memory_order_relaxed);
  return answer;
}

rails::post counted_rail::send(rails::peer_id peer, const rails::packet& what) noexcept {
  return counted(what.header.size() + what.payload.size(), what.cookie,
                 what.payload.size() > always_done_max_, [&] { return inner_->send(peer, what); });
}

rails::post counted_rail::put(rails::peer_id peer, const rails::remote_place& to,
                              std::span<const std::byte> from, std::uint64_t cookie) noexcept {
  const bool direct = to.exposed.id == 0;  // `done` at once, and has no cookie
  return counted(from.size(), cookie, !direct,
                 [&] { return inner_->memory()->put(peer, to, from, cookie); });
}

rails::post counted_rail::put_lent(rails::peer_id peer, const rails::remote_place& to,
                                   std::span<const std::byte> from, std::uint64_t cookie) noexcept {
  return counted(from.size(), cookie, true,
                 [&] { return inner_->memory()->put_lent(peer, to, from, cookie); });
}

rails::post counted_rail::get(rails::peer_id peer, const rails::remote_place& from,
                              std::span<std::byte> to, std::uint64_t cookie) noexcept {
  const auto answer = inner_->memory()->get(peer, from, to, cookie);
  if (answer != rails::post::done && answer != rails::post::posted) return answer;
  bytes_in_.fetch_add(to.size(), std::memory_order_relaxed);
  if (answer == rails::post::done && in_background())
    bytes_overlap_.fetch_add(to.size(), std::memory_order_relaxed);
  return answer;
}

std::size_t counted_rail::reap(std::span<rails::event> out) noexcept {
  const auto count = inner_->reap(out);
  std::uint64_t packets = 0, bytes = 0, sent = 0;
  for (const auto& e : out.first(count)) {
    packets += e.kind == rails::event_kind::received ? 1 : 0;
    const bool of_packet =
        e.kind == rails::event_kind::received || e.kind == rails::event_kind::continued;
    bytes += of_packet ? e.bytes.size() : 0;
    bytes += e.kind == rails::event_kind::landed ? e.count : 0;
    if (e.kind == rails::event_kind::sent) sent += take_posted(e.cookie);
    if (e.kind == rails::event_kind::failed) static_cast<void>(take_posted(e.cookie));
  }
  if (packets + bytes + sent == 0) return count;
  packets_in_.fetch_add(packets, std::memory_order_relaxed);
  bytes_in_.fetch_add(bytes, std::memory_order_relaxed);
  if (in_background()) bytes_overlap_.fetch_add(bytes + sent, std::memory_order_relaxed);
  return count;
}

rail_count counted_rail::count() const noexcept {
  return {.packets_out = packets_out_.load(std::memory_order_relaxed),
          .bytes_out = bytes_out_.load(std::memory_order_relaxed),
          .packets_in = packets_in_.load(std::memory_order_relaxed),
          .bytes_in = bytes_in_.load(std::memory_order_relaxed),
          .bytes_overlap = bytes_overlap_.load(std::memory_order_relaxed)};
}

}  // namespace headway::runtime
