#include "rails/tcp/record_writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace headway::rails::tcp {

void record_writer::begin_stream() noexcept {
  crypto_secretstream_xchacha20poly1305_init_push(&state_, record::sodium_bytes(sealed_.data()),
                                                  keys_.content.data());
  end_ = record::stream_header_bytes;
}

/// The content of the next record: in place if one buffer has enough, otherwise copied together.
std::span<const std::byte> record_writer::next_content(record::cursor& from) noexcept {
  if (from.in_last() || from.front().size() >= record::content_bytes_max) {
    const auto content =
        from.front().first(std::min(from.front().size(), record::content_bytes_max));
    from.advance(content.size());
    return content;
  }
  std::size_t count = 0;
  while (count < gathered_.size() && !from.front().empty()) {
    const auto bytes = std::min(from.front().size(), gathered_.size() - count);
    std::memcpy(gathered_.data() + count, from.front().data(), bytes);
    from.advance(bytes);
    count += bytes;
  }
  return std::span(gathered_).first(count);
}

void record_writer::add(std::span<const std::byte> content) noexcept {
  const auto head = record::encode(static_cast<std::uint32_t>(content.size()), number_++, keys_);
  std::ranges::copy(head, &sealed_[end_]);
  end_ += head.size();
  crypto_secretstream_xchacha20poly1305_push(
      &state_, record::sodium_bytes(&sealed_[end_]), nullptr, record::sodium_bytes(content.data()),
      content.size(), nullptr, 0, crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
  end_ += content.size() + record::added_bytes;
}

void record_writer::seal(record::cursor& from, std::size_t records) noexcept {
  HEADWAY_DEBUG_ASSERT(empty() && records <= records_max);
  if (from.front().empty()) return;
  begin_ = end_ = 0;
  if (number_ == 0) begin_stream();
  for (; records > 0 && !from.front().empty(); --records) add(next_content(from));
}

}  // namespace headway::rails::tcp
