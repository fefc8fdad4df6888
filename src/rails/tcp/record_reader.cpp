#include "rails/tcp/record_reader.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace headway::rails::tcp {

void record_reader::give_opened(record::cursor& to) noexcept {
  const auto bytes = std::min(opened_.size(), to.front().size());
  std::memcpy(to.front().data(), opened_.data(), bytes);
  opened_ = opened_.subspan(bytes);
  to.advance(bytes);
}

/// Reads what stands before the next content. False: it has not come, or does not verify.
bool record_reader::read_length() noexcept {
  if (!begun_) {
    if (sealed().size() < record::stream_header_bytes) return false;
    crypto_secretstream_xchacha20poly1305_init_pull(&state_, record::sodium_bytes(sealed().data()),
                                                    keys_.content.data());
    begin_ += record::stream_header_bytes;
    begun_ = true;
  }
  if (content_bytes_ != 0) return true;
  if (sealed().size() < record::head_bytes) return false;
  const auto length = record::decode(sealed().first<record::head_bytes>(), number_, keys_);
  broken_ = !length;
  if (broken_) return false;
  begin_ += record::head_bytes;
  content_bytes_ = *length;
  return true;
}

/// Decrypts the record at the front, to its place if that has room for all of it. False: it has not
/// come whole, or does not verify.
bool record_reader::open_next(record::cursor& to) noexcept {
  if (!read_length()) return false;
  const auto sealed_bytes = content_bytes_ + record::added_bytes;
  if (sealed().size() < sealed_bytes) return false;
  const bool in_place = to.front().size() >= content_bytes_;
  auto* const target = in_place ? to.front().data() : content_.data();
  unsigned char tag = 0;
  // It verifies the record before it writes the content.
  const bool valid = crypto_secretstream_xchacha20poly1305_pull(
                         &state_, record::sodium_bytes(target), nullptr, &tag,
                         record::sodium_bytes(sealed().data()), sealed_bytes, nullptr, 0) == 0;
  broken_ = !valid || tag != crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
  if (broken_) return false;
  if (in_place) to.advance(content_bytes_);
  else opened_ = std::span(content_).first(content_bytes_);
  begin_ += sealed_bytes;
  content_bytes_ = 0;
  ++number_;
  return true;
}

/// Reads once from the connection; `drained`: it had no more.
std::ptrdiff_t record_reader::fill(int fd, bool& drained) noexcept {
  std::memmove(sealed_.data(), sealed().data(), sealed().size());
  end_ -= begin_;
  begin_ = 0;
  const auto room = sealed_.size() - end_;
  const auto got = recv(fd, sealed_.data() + end_, room, MSG_DONTWAIT);
  if (got > 0) end_ += static_cast<std::size_t>(got);
  drained = got < static_cast<std::ptrdiff_t>(room);
  all_opened_ = got <= 0;
  return got;
}

std::ptrdiff_t record_reader::receive(int fd, std::span<const iovec> into) noexcept {
  record::cursor to(into);
  bool drained = false;
  while (!broken_ && !to.front().empty()) {
    if (!opened_.empty()) {
      give_opened(to);
      continue;
    }
    if (open_next(to)) continue;
    all_opened_ = true;
    if (broken_ || drained) break;
    const auto got = fill(fd, drained);
    if (got <= 0 && to.passed() == 0) return got;
    if (got <= 0) break;  // the next call reports it
  }
  if (to.passed() > 0) return static_cast<std::ptrdiff_t>(to.passed());
  return errno = broken_ ? EBADMSG : EAGAIN, -1;
}

}  // namespace headway::rails::tcp
