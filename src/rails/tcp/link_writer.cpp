#include "rails/tcp/link_writer.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/early_reads.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "rails/tcp/connection_manager.hpp"

namespace headway::rails::tcp {
namespace {

// Up to this size, one copy into one buffer is cheaper than a gather list.
constexpr std::size_t flat_bytes_max = 2048;

ssize_t write_flat(int fd, const packet& p, const frame_image& f, std::size_t whole,
                   sent_log& log) noexcept {
  std::array<std::byte, flat_bytes_max> memory;
  auto* const kept = log.place(whole);
  auto* const flat = kept ? kept : memory.data();
  auto* at = flat;
  std::memcpy(at, f.data(), f.size());
  at += f.size();
  if (!p.header.empty()) std::memcpy(at, p.header.data(), p.header.size());
  at += p.header.size();
  if (!p.payload.empty()) std::memcpy(at, p.payload.data(), p.payload.size());
  at += p.payload.size();
  std::memset(at, 0, static_cast<std::size_t>(flat + whole - at));
  const auto wrote = ::send(fd, flat, whole, MSG_NOSIGNAL | MSG_DONTWAIT);
  const auto taken = static_cast<std::size_t>(std::max<ssize_t>(wrote, 0));
  if (kept) log.add_placed(taken);
  else log.add({flat, taken});
  return wrote;
}

iovec part(std::span<const std::byte> bytes) noexcept {
  return {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
}

ssize_t write_gathered(int fd, const packet& p, const frame_image& f, std::size_t padding,
                       sent_log& log) noexcept {
  static constexpr std::array<std::byte, 8> zeros{};
  iovec parts[4] = {part(f), part(p.header), part(p.payload),
                    part(std::span(zeros).first(padding))};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 4;
  const base::early_reads read{parts};
  const auto wrote = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  auto left = wrote > 0 && log.is_open() ? static_cast<std::size_t>(wrote) : 0;
  // Behind the call: what is copied is copied while the packet is on its way.
  for (std::size_t i = 0; left > 0; ++i) {
    const std::span sent(static_cast<const std::byte*>(parts[i].iov_base),
                         std::min(left, parts[i].iov_len));
    if (i == 2 && p.lent) log.lend(sent);
    else log.add(sent);
    left -= sent.size();
  }
  return wrote;
}

std::size_t bytes_in(std::span<const iovec> all) noexcept {
  std::size_t bytes = 0;
  for (const auto& one : all) bytes += one.iov_len;
  return bytes;
}

bool try_later(int error) noexcept {
  return error == EAGAIN || error == EINTR || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

void say_lost(std::uint32_t peer, int error) noexcept {
  if (error == 0 || error == ECONNRESET || error == EPIPE) return;
  base::log(
      base::severity::warning, "{}",
      base::failed_errno(fmt::format("tcp: connection to peer {} lost", peer), error).error().text);
}

post link_writer::send(link& l, std::uint32_t peer, const packet& p) noexcept {
  HEADWAY_DEBUG_ASSERT(p.header.size() <= tcp::header_bytes_max &&
                       p.payload.size() <= tcp::eager_bytes_max);
  if (l.now != link::state::up || l.write_error != 0 || l.records || l.unwritten())
    return queue(l, peer, p, 0);
  const auto content = p.header.size() + p.payload.size();
  const auto padding = padding_of(content);
  const auto whole = frame_bytes + content + padding;
  const auto f = encode({.kind = frame_kind::plain,
                         .header_bytes = static_cast<std::uint16_t>(p.header.size()),
                         .payload_bytes = static_cast<std::uint32_t>(p.payload.size())});
  const auto wrote = whole <= flat_bytes_max ? write_flat(l.fd.get(), p, f, whole, l.log)
                                             : write_gathered(l.fd.get(), p, f, padding, l.log);
  if (wrote == static_cast<ssize_t>(whole)) return post::done;
  if (wrote < 0 && !try_later(errno)) {
    fail(l, errno);
    if (!l.log.is_open()) return post::down;
  }
  return queue(l, peer, p, wrote < 0 ? 0 : static_cast<std::size_t>(wrote));
}

/// An empty queue accepts every packet: one that has partly left is never refused.
post link_writer::queue(link& l, std::uint32_t peer, const packet& p, std::size_t sent) noexcept {
  const bool copy = p.payload.size() <= inline_bytes_max;
  const bool first = l.records && !l.unwritten();  // otherwise `send` has tried
  if (sent == 0 && p.alone && l.out.plain_waits()) return post::retry;
  if (sent == 0 && l.out.posted_bytes() >= posted_bytes_max) return post::retry;
  if (!l.out.take_plain(p, sent, copy)) {
    if (sent == 0) return post::retry;
    l.log.close();
    fail(l, ENOMEM);  // for the rest of a frame
    return post::down;
  }
  std::size_t done = 0;
  write_if_first(l, peer, first, done);
  return copy || done > 0 ? post::done : post::posted;
}

/// If nothing was queued before, sends at once as much as possible.
void link_writer::write_if_first(link& l, std::uint32_t peer, bool first,
                                 std::size_t& done) noexcept {
  note_queue(l);
  if (l.now != link::state::up || l.write_error != 0) return;
  if (first) {
    cookies finished;
    bool blocked = false;
    done = write_some(l, finished, blocked);
    if (l.write_error != 0) return;  // the reaper reports it as failed
  }
  if (l.unwritten()) watch_output(l, peer, true);
}

post link_writer::put(link& l, std::uint32_t peer, const remote_place& to,
                      const output::payload& from) noexcept {
  if (from.bytes.empty()) return post::done;
  const bool first = !l.unwritten();
  if (!l.out.take_piece(to.exposed.id, to.offset, from)) return post::retry;
  std::size_t done = 0;
  write_if_first(l, peer, first, done);
  return done > 0 ? post::done : post::posted;
}

bool link_writer::request(link& l, std::uint32_t peer, const remote_place& at,
                          const memory_request& what) noexcept {
  std::array<std::byte, request_bytes> body;
  encode(what, body);
  const bool first = !l.unwritten();
  const frame f{.kind = frame_kind::request,
                .header_bytes = request_bytes,
                .id = at.exposed.id,
                .offset = at.offset};
  if (!l.out.take_frame(f, body)) return false;
  std::size_t done = 0;
  write_if_first(l, peer, first, done);
  return true;
}

bool link_writer::answer_part(link& l, peer_id peer, memory_tables& memory,
                              asked_request& r) noexcept {
  const auto bytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(r.what.bytes - r.answered, answer_bytes_max));
  if (!l.out.has_room() || l.out.piece_count() >= answers_queued_max) return false;
  std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes]);
  exposures::found said;
  if (copy && r.what.changes) {
    std::uint64_t before = 0;
    said = memory.exposed.change(peer, {.exposed = {.id = r.id}, .offset = r.offset}, r.what.change,
                                 before);
    std::memcpy(copy.get(), &before, sizeof before);
  } else if (copy) {
    said = memory.exposed.read(peer, r.id, r.offset + r.answered, {copy.get(), bytes});
  }
  if (said.what == exposures::answer::done &&
      l.out.take_answer(r.what.answer, r.answered, std::move(copy), bytes)) {
    r.answered += bytes;
    return true;
  }
  r.answered = r.what.bytes;
  return l.out.take_frame({.kind = frame_kind::refusal, .id = r.what.answer});
}

bool link_writer::send_receipt(link& l, std::uint64_t received) noexcept {
  if (l.now != link::state::up || l.write_error != 0 || l.goodbye_said) return false;
  if (!l.out.take_frame({.kind = frame_kind::receipt, .id = received})) return false;
  note_queue(l);
  watch_output(l, l.peer, true);
  return true;
}

void link_writer::answer(link& l, std::uint32_t peer, memory_tables& memory,
                         std::deque<asked_request>& asked) noexcept {
  if (l.now != link::state::up || l.write_error != 0 || l.goodbye_said) {
    if (!l.log.is_open() || l.goodbye_said) asked.clear();
    return;
  }
  while (!asked.empty() && answer_part(l, peer_id{peer}, memory, asked.front()))
    if (asked.front().answered == asked.front().what.bytes) asked.pop_front();
  note_queue(l);
  // While requests are left something is queued, and the watch set reports when it has been sent.
  if (l.unwritten()) watch_output(l, peer, true);
}

std::size_t link_writer::gather(link& l, std::span<iovec, output::vectors_max> vectors) noexcept {
  return l.log.rewound() ? l.log.gather(vectors) : l.out.gather(vectors);
}

std::size_t link_writer::advance(link& l, std::size_t bytes, cookies& done) noexcept {
  if (!l.log.rewound()) return l.out.advance(bytes, done, l.log);
  l.log.advance(bytes);
  return 0;
}

std::size_t link_writer::write_records(link& l, cookies& done, bool& blocked) noexcept {
  auto& records = *l.records;
  std::array<iovec, output::vectors_max> vectors;
  const auto count = gather(l, vectors);
  const auto all = bytes_in(std::span(vectors).first(count));
  const base::early_reads read{std::span(vectors).first(count)};
  record::cursor from{std::span(vectors).first(count)};
  do {
    const auto quarter = (all - from.passed()) / 4 / record::content_bytes_max;
    if (records.empty())
      records.seal(from, std::clamp<std::size_t>(quarter, 1, record_writer::records_max));
    const auto next = records.sealed();
    const auto wrote = ::send(l.fd.get(), next.data(), next.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    blocked = wrote < static_cast<ssize_t>(next.size());
    if (wrote < 0 && !try_later(errno)) fail(l, errno);
    if (wrote > 0) records.written(static_cast<std::size_t>(wrote));
  } while (!blocked && !from.front().empty() && from.passed() < encrypted_bytes_max);
  const auto reusable = advance(l, from.passed(), done);
  note_queue(l);
  return reusable;
}

std::size_t link_writer::write_some(link& l, cookies& done, bool& blocked) noexcept {
  if (l.records) return write_records(l, done, blocked);
  std::array<iovec, output::vectors_max> vectors;
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = gather(l, vectors);
  const auto wanted = bytes_in(std::span(vectors).first(message.msg_iovlen));
  const base::early_reads read{std::span(vectors).first(message.msg_iovlen)};
  const auto wrote = sendmsg(l.fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  blocked = wrote < static_cast<ssize_t>(wanted);
  if (wrote < 0 && !try_later(errno)) fail(l, errno);
  if (wrote <= 0) return 0;
  const auto count = advance(l, static_cast<std::size_t>(wrote), done);
  note_queue(l);
  return count;
}

void link_writer::fail(link& l, int error) noexcept {
  if (!l.log.is_open()) say_lost(l.peer, error);  // otherwise it is resumed
  l.write_error = error;
  shutdown(l.fd.get(), SHUT_RDWR);
}

void link_writer::set_watching(link& l, bool on) noexcept {
  if (l.watching_output == on) return;
  l.watching_output = on;
  watching_.fetch_add(on ? 1 : -1, std::memory_order_relaxed);
}

void link_writer::watch_output(link& l, std::uint32_t peer, bool on) noexcept {
  if (l.watching_output == on) return;
  const std::uint32_t events = on ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (watch_->change(l.fd.get(), events, watch_word(watch_kind::link, peer))) set_watching(l, on);
  else if (on) fail(l, errno);  // the rest would never be written
}

}  // namespace headway::rails::tcp
