#include "rails/tcp/output.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/assert.hpp"

namespace headway::rails::tcp {
namespace {

constexpr std::array<std::byte, 8> zeros{};

// To copy so much takes less time than most programs would lose by a later end of their send.
constexpr std::size_t copied_at_once = 128 * 1024;

frame_image plain_frame(const packet& p) noexcept {
  return encode({.kind = frame_kind::plain,
                 .header_bytes = static_cast<std::uint16_t>(p.header.size()),
                 .payload_bytes = static_cast<std::uint32_t>(p.payload.size())});
}

std::byte* put(std::byte* to, std::span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

}  // namespace

bool output::ensure_store() noexcept {
  if (store_) return true;
  store_.reset(new (std::nothrow) store);  // not value-initialised: pages are touched on first use
  if (!store_) return false;
  plain_ = {.slots = store_->plain.data()};
  pieces_ = {.slots = store_->pieces.data()};
  return true;
}

std::byte* output::room_for(std::size_t bytes) const noexcept {
  auto* const base = store_->copies.data();
  if (plain_.empty()) return bytes <= copy_bytes ? base : nullptr;
  const auto oldest = static_cast<std::size_t>(plain_.at(0).head - base);
  if (copies_end_ > oldest) {  // in use: [oldest, end)
    if (bytes <= copy_bytes - copies_end_) return base + copies_end_;
    return bytes < oldest ? base : nullptr;
  }
  return bytes < oldest - copies_end_ ? base + copies_end_ : nullptr;
}

bool output::has_room() const noexcept {
  constexpr auto most = frame_bytes + header_bytes_max + eager_bytes_max + 8;
  return !store_ || (!plain_.full() && room_for(most));
}

bool output::take_plain(const packet& p, std::size_t sent, bool copy) noexcept {
  if (!ensure_store() || plain_.full()) return false;
  const auto padding = padding_of(p.header.size() + p.payload.size());
  const auto copied = frame_bytes + p.header.size() + (copy ? p.payload.size() + padding : 0);
  auto* const head = room_for(copied);
  if (!head) return false;
  auto* to = put(put(head, plain_frame(p)), p.header);
  if (copy) to = put(put(to, p.payload), std::span(zeros).first(padding));
  copies_end_ = static_cast<std::size_t>(to - store_->copies.data());
  if (!copy) posted_bytes_ += p.payload.size();
  plain_.push({.head = head,
               .head_bytes = copied,
               .payload = copy ? nullptr : p.payload.data(),
               .payload_bytes = copy ? 0 : p.payload.size(),
               .padding = copy ? 0 : padding,
               .done = sent,
               .cookie = p.cookie,
               .posted = !copy,
               .lent = p.lent});
  return true;
}

bool output::take_frame(const frame& f, std::span<const std::byte> header) noexcept {
  if (!ensure_store() || plain_.full()) return false;
  const auto bytes = frame_bytes + header.size() + padding_of(header.size());
  auto* const head = room_for(bytes);
  if (!head) return false;
  auto* const padding = put(put(head, encode(f)), header);
  copies_end_ = static_cast<std::size_t>(
      put(padding, std::span(zeros).first(padding_of(header.size()))) - store_->copies.data());
  plain_.push({.head = head, .head_bytes = bytes});
  return true;
}

bool output::take_piece(std::uint64_t id, std::uint64_t offset, const payload& from) noexcept {
  if (!ensure_store() || pieces_.full()) return false;
  pieces_.push({.payload = from.bytes.data(),
                .left = from.bytes.size(),
                .id = id,
                .offset = offset,
                .cookie = from.cookie,
                .lent = from.lent});
  return true;
}

bool output::take_answer(std::uint64_t id, std::uint64_t offset, std::unique_ptr<std::byte[]> own,
                         std::size_t bytes) noexcept {
  if (!take_piece(id, offset, {.bytes = {own.get(), bytes}})) return false;
  pieces_.at(pieces_.count - 1).own = own.release();
  return true;
}

void output::start_segment() noexcept {
  piece& from = pieces_.at(0);
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(from.left, segment_bytes_));
  const bool last = bytes == from.left;
  segment_frame_ = encode({.kind = frame_kind::piece,
                           .more = !last,
                           .payload_bytes = static_cast<std::uint32_t>(bytes),
                           .id = from.id,
                           .offset = from.offset});
  segment_run_ = {.head = segment_frame_.data(),
                  .head_bytes = frame_bytes,
                  .payload = from.payload,
                  .payload_bytes = bytes,
                  .padding = padding_of(bytes),
                  .cookie = from.cookie,
                  .posted = last && !from.own,
                  .lent = from.lent,
                  .own = last ? from.own : nullptr};
  segment_ = true;
  segment_begun_ = false;
  from.payload += bytes;
  from.offset += bytes;
  from.left -= bytes;
  if (last) pieces_.pop();
}

/// Calls `take(bytes, in_payload)` for what is left of it, in order.
template <class Take>
void output::each_part(const run& r, Take take) noexcept {
  auto skip = r.done;
  const auto part = [&](const std::byte* from, std::size_t bytes, bool in_payload) {
    const auto passed = std::min(skip, bytes);
    skip -= passed;
    if (bytes != passed) take(std::span(from + passed, bytes - passed), in_payload);
  };
  part(r.head, r.head_bytes, false);
  part(r.payload, r.payload_bytes, true);
  part(zeros.data(), r.padding, false);
}

void output::list(const run& r, std::span<iovec, vectors_max> vectors,
                  std::size_t& count) noexcept {
  each_part(r, [&](std::span<const std::byte> bytes, bool) {
    if (count > 0) {  // adjacent copied packets are one entry
      auto& last = vectors[count - 1];
      if (static_cast<const std::byte*>(last.iov_base) + last.iov_len == bytes.data()) {
        last.iov_len += bytes.size();
        return;
      }
    }
    // The kernel only reads; iovec has no const.
    vectors[count++] = {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  });
}

std::size_t output::gather(std::span<iovec, vectors_max> vectors) noexcept {
  constexpr std::size_t per_run = 3;
  std::size_t count = 0;
  // a frame that has partly left must go on first
  if (segment_begun_) list(segment_run_, vectors, count);
  for (std::size_t i = 0; i < plain_.count; ++i) {
    if (count + 2 * per_run > vectors_max) return count;
    list(plain_.at(i), vectors, count);
  }
  if (segment_begun_) return count;
  if (!segment_ && !pieces_.empty()) start_segment();
  if (segment_) list(segment_run_, vectors, count);
  return count;
}

/// `stays`: the payload may be read until its cookie is returned.
bool output::finish(run& r, std::size_t& bytes, sent_log& log, bool stays) noexcept {
  const auto taken = std::min(bytes, r.left());
  if (log.is_open()) {
    auto left = taken;
    each_part(r, [&](std::span<const std::byte> part, bool in_payload) {
      const auto sent = part.first(std::min(part.size(), left));
      left -= sent.size();
      if (in_payload && r.lent) log.lend(sent);
      else if (in_payload && stays) log.borrow(sent);
      else log.add(sent);
    });
  }
  r.done += taken;
  bytes -= taken;
  return r.left() == 0;
}

/// Returns the cookie of a lent payload that has left.
std::optional<std::uint64_t> output::end_segment(std::size_t& bytes, sent_log& log) noexcept {
  segment_begun_ = true;
  if (!finish(segment_run_, bytes, log, true)) return std::nullopt;
  segment_ = segment_begun_ = false;
  if (!segment_run_.posted && !segment_run_.own) return std::nullopt;  // the payload goes on
  if (segment_run_.lent) return segment_run_.cookie;
  store_->held[held_count_++] = {.end = log.end(),
                                 .cookie = segment_run_.cookie,
                                 .own = std::exchange(segment_run_.own, nullptr)};
  return std::nullopt;
}

/// Payloads that the kernel has taken: now or after the next writes.
std::size_t output::give_back(std::span<std::uint64_t> cookies, sent_log& log) noexcept {
  const bool more = segment_ || !pieces_.empty();
  const bool wait = more && held_count_ < written_max && log.borrowed() > copied_at_once;
  if (!wait) log.give_back();
  std::size_t count = 0;
  std::size_t done = 0;
  for (; done < held_count_; ++done) {
    const written& w = store_->held[done];
    if (wait && w.end > log.oldest()) break;
    if (w.own) delete[] w.own;
    else cookies[count++] = w.cookie;
  }
  held_count_ -= done;
  std::copy_n(store_->held.begin() + static_cast<std::ptrdiff_t>(done), held_count_,
              store_->held.begin());
  return count;
}

std::size_t output::advance(std::size_t bytes, std::span<std::uint64_t, vectors_max> cookies,
                            sent_log& log) noexcept {
  std::size_t count = 0;
  const auto go_on_with_segment = [&] {
    if (const auto cookie = end_segment(bytes, log)) cookies[count++] = *cookie;
  };
  if (segment_begun_ && bytes > 0) go_on_with_segment();
  while (bytes > 0 && !plain_.empty()) {
    run& r = plain_.at(0);
    if (!finish(r, bytes, log, false)) break;
    if (r.posted) {
      cookies[count++] = r.cookie;
      posted_bytes_ -= r.payload_bytes;
    }
    plain_.pop();
  }
  if (bytes > 0) {
    HEADWAY_DEBUG_ASSERT(segment_);
    go_on_with_segment();
  }
  return held_count_ == 0 ? count : count + give_back(cookies.subspan(count), log);
}

std::optional<std::uint64_t> output::drop() noexcept {
  while (held_count_ > 0) {
    const written& w = store_->held[--held_count_];
    if (!w.own) return w.cookie;
    delete[] w.own;
  }
  if (segment_) {
    segment_ = segment_begun_ = false;
    delete[] std::exchange(segment_run_.own, nullptr);
    if (segment_run_.posted) return segment_run_.cookie;
  }
  while (!plain_.empty()) {
    const run r = plain_.at(0);
    plain_.pop();
    if (!r.posted) continue;
    posted_bytes_ -= r.payload_bytes;
    return r.cookie;
  }
  while (!pieces_.empty()) {
    const piece p = pieces_.at(0);
    pieces_.pop();
    if (!p.own) return p.cookie;
    delete[] p.own;
  }
  return std::nullopt;
}

void output::clear() noexcept {
  while (drop()) {
  }
  store_.reset();
  plain_ = {};
  pieces_ = {};
  posted_bytes_ = 0;
}

}  // namespace headway::rails::tcp
