#include "rails/tcp/input.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace headway::rails::tcp {
namespace {

// How far to read ahead of frames that are not parsed yet: many small packets fit in one call, and
// not much of a large payload is copied twice.
constexpr std::size_t ahead_bytes = 64 * 1024;

// To decrypt a byte takes several times as long as to copy it; a call is to end as soon.
constexpr std::size_t encrypted_budget_bytes = 256 * 1024;

iovec place(std::byte* at, std::size_t bytes) noexcept {
  return {.iov_base = at, .iov_len = bytes};
}

}  // namespace

block* block_pool::take() noexcept {
  if (free_.empty()) {
    if (all_.size() >= blocks_max_) return nullptr;
    auto made = std::unique_ptr<block>(new (std::nothrow) block);
    if (!made) return nullptr;
    all_.push_back(std::move(made));
    free_.reserve(all_.capacity());
    free_.push_back(all_.back().get());
  }
  auto* const taken = free_.back();
  free_.pop_back();
  taken->filling = true;
  return taken;
}

void block_pool::settle(block& b) noexcept {
  if (!b.filling && b.unreleased == 0) free_.push_back(&b);
}

void input::stop() noexcept {
  if (!block_) return;
  block_->filling = false;
  blocks_->settle(*block_);
  block_ = nullptr;
  begin_ = end_ = 0;
}

void input::tidy() noexcept {
  if (block_ && begin_ == end_ && block_->unreleased == 0) stop();
}

bool input::make_room(std::size_t bytes) noexcept {
  if (!block_) {
    block_ = blocks_->take();
    begin_ = end_ = 0;
    if (!block_) return false;
  }
  if (block::bytes - end_ >= bytes) return true;
  const auto count = available();
  const auto place = begin_ & 7;  // frames keep their alignment
  if (block_->unreleased == 0) {
    std::memmove(block_->data.data() + place, front(), count);
  } else {
    block* const next = blocks_->take();
    if (!next) return false;
    std::memcpy(next->data.data() + place, front(), count);
    block_->filling = false;
    block_ = next;
  }
  begin_ = place;
  end_ = place + count;
  return true;
}

void input::skip_padding() noexcept {
  const auto skipped = std::min(padding_, available());
  begin_ += skipped;
  padding_ -= skipped;
}

void input::pass_over(std::size_t bytes) noexcept {
  offset_ += bytes;
  piece_left_ -= bytes;
}

void input::landed(std::uint64_t token, std::size_t bytes, event_sink& out) noexcept {
  pass_over(bytes);
  if (is_answer()) {
    if (const auto cookie = memory_->calls.arrived(token, bytes))
      out.put({.kind = event_kind::sent, .peer = peer_, .cookie = *cookie});
  } else if (exposures::notified(id_)) {
    out.put({.kind = event_kind::landed, .peer = peer_, .count = bytes, .cookie = token});
  }
}

/// Copies what was read with the frame to its place. False: the piece is out of bounds.
bool input::land_buffered(event_sink& out) noexcept {
  const auto bytes = std::min(piece_left_, available());
  const auto said = table().use(
      part(bytes), [&](std::span<std::byte> to) { std::memcpy(to.data(), front(), bytes); });
  begin_ += bytes;
  if (said.what == exposures::answer::done) {
    landed(said.token, bytes, out);
  } else {
    pass_over(bytes);
  }
  return said.what != exposures::answer::out_of_bounds;
}

input::parsing input::parse_plain(const frame& f, event_sink& out) noexcept {
  const std::size_t content = std::size_t{f.header_bytes} + f.payload_bytes;
  const std::size_t whole = frame_bytes + content + padding_of(content);
  if (available() < whole) {
    needed_ = whole;
    return parsing::needs_bytes;
  }
  needed_ = 0;
  out.put({.kind = event_kind::received,
           .peer = peer_,
           .bytes = {front() + frame_bytes, content},
           .driver_word = reinterpret_cast<std::uintptr_t>(block_)});
  ++block_->unreleased;
  begin_ += whole;
  return parsing::needs_events;
}

input::parsing input::parse_request(const frame& f) noexcept {
  constexpr auto whole = frame_bytes + request_bytes;
  static_assert(padding_of(request_bytes) == 0);
  if (available() < whole) {
    needed_ = whole;
    return parsing::needs_bytes;
  }
  needed_ = 0;
  const auto r = decode_request(
      std::span<const std::byte, request_bytes>(front() + frame_bytes, request_bytes));
  if (!r || asked_.size() == memory_calls::calls_max) return parsing::broken;
  asked_.push_back({.id = f.id, .offset = f.offset, .what = *r});
  begin_ += whole;
  return parsing::needs_events;
}

input::parsing input::parse_refusal(const frame& f, event_sink& out) noexcept {
  begin_ += frame_bytes;
  if (const auto ended = memory_->calls.refused(peer_, f.id))
    out.put({.kind = ended->how, .peer = peer_, .cookie = ended->cookie});
  return parsing::needs_events;
}

input::parsing input::parse_frame(event_sink& out) noexcept {
  const auto f = decode(std::span<const std::byte, frame_bytes>(front(), frame_bytes));
  if (!f || goodbye_) return parsing::broken;
  if (f->kind == frame_kind::plain) return parse_plain(*f, out);
  if (f->kind == frame_kind::request) return parse_request(*f);
  if (f->kind == frame_kind::refusal) return parse_refusal(*f, out);
  begin_ += frame_bytes;
  if (f->kind == frame_kind::goodbye) {
    goodbye_ = true;
  } else if (f->kind == frame_kind::receipt) {
    peer_received_ = f->id;
  } else {
    id_ = f->id;
    offset_ = f->offset;
    piece_left_ = f->payload_bytes;
    padding_ = padding_of(f->payload_bytes);
    more_pieces_ = f->more;
  }
  return parsing::needs_events;
}

/// Parses the block until its bytes or the room for events are used up.
input::parsing input::parse(event_sink& out) noexcept {
  while (block_) {
    if (piece_left_ > 0) {
      if (available() == 0) return parsing::needs_bytes;
      if (out.full()) return parsing::needs_events;
      if (!land_buffered(out)) return parsing::broken;
      continue;
    }
    skip_padding();
    if (available() < frame_bytes) return parsing::needs_bytes;
    if (out.full()) return parsing::needs_events;
    const auto answer = parse_frame(out);
    if (answer != parsing::needs_events) return answer;
  }
  return parsing::needs_bytes;
}

std::ptrdiff_t input::receive(int fd, std::span<const iovec> into) noexcept {
  const auto got = take_in(fd, into);
  if (got > 0) received_ += static_cast<std::uint64_t>(got);
  return got;
}

std::ptrdiff_t input::take_in(int fd, std::span<const iovec> into) noexcept {
  if (records_) return records_->receive(fd, into);
  if (into.size() == 1) return recv(fd, into[0].iov_base, into[0].iov_len, MSG_DONTWAIT);
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(into.data());  // the kernel only reads it
  message.msg_iovlen = into.size();
  return recvmsg(fd, &message, MSG_DONTWAIT);
}

std::ptrdiff_t input::read_ahead(int fd, std::size_t bytes_max, bool& short_read) noexcept {
  const auto missing = needed_ > available() ? needed_ - available() : 0;
  const auto room = std::max<std::size_t>(missing, 4096) + 16;
  if (!make_room(room)) return errno = ENOBUFS, -1;
  if (available() == 0) begin_ = end_ = place_behind_padding();
  const auto wanted = std::min({block::bytes - end_, std::max(missing, ahead_bytes), bytes_max});
  const iovec into = place(block_->data.data() + end_, wanted);
  const auto got = receive(fd, {&into, 1});
  if (got > 0) end_ += static_cast<std::size_t>(got);
  short_read = got < static_cast<std::ptrdiff_t>(wanted);
  return got;
}

/// Reads a payload whose exposure was withdrawn.
std::ptrdiff_t input::drop_piece(int fd, std::size_t bytes_max, bool& short_read) noexcept {
  if (!make_room(ahead_bytes)) return errno = ENOBUFS, -1;
  const auto wanted = std::min({piece_left_, ahead_bytes, bytes_max});
  const iovec into = place(block_->data.data() + end_, wanted);
  const auto got = receive(fd, {&into, 1});
  if (got > 0) pass_over(static_cast<std::size_t>(got));
  short_read = got < static_cast<std::ptrdiff_t>(wanted);
  return got;
}

/// Reads to the payload's place, and what follows into the block, in one call.
std::ptrdiff_t input::read_piece(int fd, event_sink& out, std::size_t bytes_max,
                                 bool& short_read) noexcept {
  const auto bytes = std::min(piece_left_, bytes_max);
  const bool whole = bytes == piece_left_;
  if (whole && !make_room(ahead_bytes)) return errno = ENOBUFS, -1;
  // If another piece follows, only its frame is read along: its payload is read to its place later.
  std::size_t at = 0;
  std::size_t ahead = 0;
  if (whole) {
    at = place_behind_padding();
    ahead = more_pieces_ ? trailer_bytes() : std::min(ahead_bytes, block::bytes - at);
  }
  ssize_t got = -1;
  int error = 0;
  const auto said = table().use(part(bytes), [&](std::span<std::byte> target) {
    const iovec parts[2] = {place(target.data(), target.size()),
                            place(whole ? block_->data.data() + at : nullptr, ahead)};
    got = receive(fd, std::span(parts).first(whole ? 2 : 1));
    error = errno;
  });
  if (said.what == exposures::answer::unknown) return drop_piece(fd, bytes_max, short_read);
  out_of_bounds_ = said.what == exposures::answer::out_of_bounds;
  if (out_of_bounds_ || got <= 0) return errno = error, got;
  const auto in_place = std::min(static_cast<std::size_t>(got), bytes);
  const auto behind = static_cast<std::size_t>(got) - in_place;
  if (behind > 0) {
    begin_ = at;
    end_ = at + behind;
  }
  short_read = in_place < bytes || behind < ahead;
  landed(said.token, in_place, out);
  return got;
}

input::state input::read(int fd, event_sink& out, std::size_t budget) noexcept {
  tidy();
  if (records_) budget = std::min(budget, encrypted_budget_bytes);
  while (true) {
    const auto parsed = parse(out);
    if (parsed == parsing::broken) return state::broken;
    if (parsed == parsing::needs_events || out.full()) return state::more;
    if (budget == 0) return state::more;
    bool short_read = false;
    const auto got = piece_left_ > 0 && available() == 0 ? read_piece(fd, out, budget, short_read)
                                                         : read_ahead(fd, budget, short_read);
    if (out_of_bounds_) return state::broken;
    if (got <= 0) {
      error_ = got < 0 ? errno : 0;
      tidy();
      if (error_ == EAGAIN || error_ == EINTR || error_ == ENOBUFS || error_ == ENOMEM)
        return drained();
      return error_ == EBADMSG ? state::unverified : state::ended;
    }
    budget -= std::min(budget, static_cast<std::size_t>(got));
    if (!short_read) continue;
    const auto rest = parse(out);
    if (rest == parsing::broken) return state::broken;
    if (rest == parsing::needs_events) return state::more;
    tidy();
    return drained();
  }
}

}  // namespace headway::rails::tcp
