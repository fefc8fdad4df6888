#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {

frame_image encode(const frame& f) noexcept {
  frame_image image;
  image[0] = static_cast<std::byte>(f.kind);
  image[1] = static_cast<std::byte>(f.more);
  put_number(&image[2], f.header_bytes);
  put_number(&image[4], f.payload_bytes);
  put_number(&image[8], f.id);
  put_number(&image[16], f.offset);
  return image;
}

namespace {

bool makes_sense(const frame& f) noexcept {
  switch (f.kind) {
    case frame_kind::plain:
      return !f.more && f.header_bytes <= header_bytes_max && f.payload_bytes <= eager_bytes_max &&
             f.id == 0 && f.offset == 0;
    case frame_kind::piece:
      return f.header_bytes == 0 && f.payload_bytes > 0 && f.payload_bytes <= segment_bytes_max &&
             f.id != 0 && f.offset <= UINT64_MAX - f.payload_bytes;
    case frame_kind::goodbye:
      return f == frame{.kind = frame_kind::goodbye};
    case frame_kind::request:
      return !f.more && f.header_bytes == request_bytes && f.payload_bytes == 0 && f.id != 0;
    case frame_kind::refusal:
      return f == frame{.kind = frame_kind::refusal, .id = f.id} && f.id != 0;
    case frame_kind::receipt:
      return f == frame{.kind = frame_kind::receipt, .id = f.id} && f.id != 0;
  }
  return false;  // an unknown kind
}

}  // namespace

std::optional<frame> decode(std::span<const std::byte, frame_bytes> image) noexcept {
  const auto more = static_cast<std::uint8_t>(image[1]);
  if (more > 1) return std::nullopt;
  const frame f{.kind = static_cast<frame_kind>(image[0]),
                .more = more == 1,
                .header_bytes = get_number<std::uint16_t>(&image[2]),
                .payload_bytes = get_number<std::uint32_t>(&image[4]),
                .id = get_number<std::uint64_t>(&image[8]),
                .offset = get_number<std::uint64_t>(&image[16])};
  if (!makes_sense(f)) return std::nullopt;
  return f;
}

void encode(const memory_request& r, std::span<std::byte, request_bytes> to) noexcept {
  put_number(&to[0], r.bytes);
  put_number(&to[8], r.answer);
  put_number(&to[16], r.change.operand);
  put_number(&to[24], r.change.expected);
  put_number(&to[32], r.changes ? 1 + static_cast<std::uint64_t>(r.change.what) : 0);
}

std::optional<memory_request> decode_request(
    std::span<const std::byte, request_bytes> image) noexcept {
  const auto what = get_number<std::uint64_t>(&image[32]);
  const memory_request r{.bytes = get_number<std::uint64_t>(&image[0]),
                         .answer = get_number<std::uint64_t>(&image[8]),
                         .changes = what != 0,
                         .change = {.what = static_cast<operation>(what == 0 ? 0 : what - 1),
                                    .operand = get_number<std::uint64_t>(&image[16]),
                                    .expected = get_number<std::uint64_t>(&image[24])}};
  const bool sane = what <= 1 + static_cast<std::uint64_t>(operation::compare_and_swap) &&
                    r.bytes > 0 && r.answer != 0 &&
                    (!r.changes || r.bytes == sizeof(std::uint64_t));
  return sane ? std::optional(r) : std::nullopt;
}

}  // namespace headway::rails::tcp
