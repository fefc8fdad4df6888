#include "engine/counted_rail.hpp"

#include <mutex>

#include "progress/meter.hpp"
#include "progress/thread_record.hpp"

namespace headway::engine {
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
  const std::lock_guard hold(posted_lock_);
  const auto found = posted_.extract(cookie);
  return found ? found.mapped() : 0;
}

rails::post counted_rail::send(rails::peer_id peer, const rails::packet& what) noexcept {
  const auto bytes = what.header.size() + what.payload.size();
  const bool may_be_posted = what.payload.size() > always_done_max_;
  if (may_be_posted) {  // noted before its `sent` can come
    const std::lock_guard hold(posted_lock_);
    posted_[what.cookie] = bytes;
  }
  const auto answer = inner_->send(peer, what);
  if (answer == rails::post::done || answer == rails::post::posted) count_out(bytes);
  if (answer == rails::post::posted) return answer;
  if (may_be_posted) static_cast<void>(take_posted(what.cookie));
  if (answer == rails::post::done && in_background())
    bytes_overlap_.fetch_add(bytes, std::memory_order_relaxed);
  return answer;
}

std::size_t counted_rail::reap(std::span<rails::event> out) noexcept {
  const auto count = inner_->reap(out);
  std::uint64_t packets = 0, bytes = 0, sent = 0;
  for (const auto& e : out.first(count)) {
    packets += e.kind == rails::event_kind::received ? 1 : 0;
    bytes += e.kind == rails::event_kind::received ? e.bytes.size() : 0;
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

bool counted_rail::reaches(rails::peer_id peer) noexcept {
  return inner_->memory_nearby()->reaches(peer);
}

bool counted_rail::read(rails::peer_id peer, std::uint64_t from, std::span<std::byte> to) noexcept {
  if (!inner_->memory_nearby()->read(peer, from, to)) return false;
  bytes_in_.fetch_add(to.size(), std::memory_order_relaxed);
  if (in_background()) bytes_overlap_.fetch_add(to.size(), std::memory_order_relaxed);
  return true;
}

bool counted_rail::write(rails::peer_id peer, std::uint64_t to,
                         std::span<const std::byte> from) noexcept {
  if (!inner_->memory_nearby()->write(peer, to, from)) return false;
  bytes_out_.fetch_add(from.size(), std::memory_order_relaxed);
  if (in_background()) bytes_overlap_.fetch_add(from.size(), std::memory_order_relaxed);
  return true;
}

rail_count counted_rail::count() const noexcept {
  return {.packets_out = packets_out_.load(std::memory_order_relaxed),
          .bytes_out = bytes_out_.load(std::memory_order_relaxed),
          .packets_in = packets_in_.load(std::memory_order_relaxed),
          .bytes_in = bytes_in_.load(std::memory_order_relaxed),
          .bytes_overlap = bytes_overlap_.load(std::memory_order_relaxed)};
}

}  // namespace headway::engine
