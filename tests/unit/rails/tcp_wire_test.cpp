#include <gtest/gtest.h>

#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp {
namespace {

const frame good_ones[] = {
    {.kind = frame_kind::plain, .header_bytes = 64, .payload_bytes = 1000},
    {.kind = frame_kind::plain},
    {.kind = frame_kind::plain, .header_bytes = header_bytes_max, .payload_bytes = eager_bytes_max},
    {.kind = frame_kind::piece, .more = true, .payload_bytes = 1, .landing = landing_id{7}},
    {.kind = frame_kind::piece,
     .payload_bytes = segment_bytes_max,
     .landing = landing_id{0xffffffff},
     .offset = 1ull << 60},
    {.kind = frame_kind::goodbye},
};

TEST(frame, comes_back_as_it_was_written) {
  for (const auto& f : good_ones) EXPECT_EQ(decode(encode(f)), f);
}

TEST(frame, lengths_out_of_bounds_are_refused) {
  auto f = good_ones[2];
  ++f.payload_bytes;
  EXPECT_FALSE(decode(encode(f)));
  f = good_ones[2];
  ++f.header_bytes;
  EXPECT_FALSE(decode(encode(f)));
  f = good_ones[4];
  ++f.payload_bytes;
  EXPECT_FALSE(decode(encode(f)));
  f = good_ones[4];
  f.offset = UINT64_MAX;
  EXPECT_FALSE(decode(encode(f))) << "offset and length together overflow";
}

TEST(frame, fields_that_do_not_belong_to_its_kind_are_refused) {
  EXPECT_FALSE(decode(encode({.kind = frame_kind::plain, .landing = landing_id{1}})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::plain, .more = true})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::piece, .payload_bytes = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::piece, .landing = landing_id{1}})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::goodbye, .payload_bytes = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind{0}})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind{77}})));
}

TEST(frame, bits_that_nobody_writes_are_refused) {
  auto image = encode(good_ones[0]);
  image[12] = std::byte{1};
  EXPECT_FALSE(decode(image));
  image = encode(good_ones[0]);
  image[1] = std::byte{2};
  EXPECT_FALSE(decode(image));
}

TEST(frame, padding_ends_at_a_multiple_of_eight) {
  for (std::size_t bytes = 0; bytes < 100; ++bytes) {
    EXPECT_EQ((bytes + padding_of(bytes)) % 8, 0u);
    EXPECT_LT(padding_of(bytes), 8u);
  }
}

}  // namespace
}  // namespace headway::rails::tcp
