#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {

frame_image encode(const frame& f) noexcept {
  frame_image image;
  image[0] = static_cast<std::byte>(f.kind);
  image[1] = static_cast<std::byte>(f.more);
  put_number(&image[2], f.header_bytes);
  put_number(&image[4], f.payload_bytes);
  put_number(&image[8], static_cast<std::uint32_t>(f.landing));
  put_number(&image[12], std::uint32_t{0});
  put_number(&image[16], f.offset);
  return image;
}

namespace {

bool makes_sense(const frame& f) noexcept {
  switch (f.kind) {
    case frame_kind::plain:
      return !f.more && f.header_bytes <= header_bytes_max && f.payload_bytes <= eager_bytes_max &&
             f.landing == landing_id::none && f.offset == 0;
    case frame_kind::piece:
      return f.header_bytes == 0 && f.payload_bytes > 0 && f.payload_bytes <= segment_bytes_max &&
             f.landing != landing_id::none && f.offset <= UINT64_MAX - f.payload_bytes;
    case frame_kind::goodbye:
      return f == frame{.kind = frame_kind::goodbye};
  }
  return false;  // a kind that is none of ours
}

}  // namespace

std::optional<frame> decode(std::span<const std::byte, frame_bytes> image) noexcept {
  const auto more = static_cast<std::uint8_t>(image[1]);
  if (more > 1 || get_number<std::uint32_t>(&image[12]) != 0) return std::nullopt;
  const frame f{.kind = static_cast<frame_kind>(image[0]),
                .more = more == 1,
                .header_bytes = get_number<std::uint16_t>(&image[2]),
                .payload_bytes = get_number<std::uint32_t>(&image[4]),
                .landing = landing_id{get_number<std::uint32_t>(&image[8])},
                .offset = get_number<std::uint64_t>(&image[16])};
  if (!makes_sense(f)) return std::nullopt;
  return f;
}

}  // namespace headway::rails::tcp
