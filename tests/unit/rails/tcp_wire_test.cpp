#include <gtest/gtest.h>

#include "rails/tcp/wire.hpp"

namespace headway::rails::tcp::tcp_wire_tests {
namespace {

const frame good_ones[] = {
    {.kind = frame_kind::plain, .header_bytes = 64, .payload_bytes = 1000},
    {.kind = frame_kind::plain},
    {.kind = frame_kind::plain, .header_bytes = header_bytes_max, .payload_bytes = eager_bytes_max},
    {.kind = frame_kind::piece, .more = true, .payload_bytes = 1, .id = 7},
    {.kind = frame_kind::piece,
     .payload_bytes = segment_bytes_max,
     .id = UINT64_MAX,
     .offset = 1ull << 60},
    {.kind = frame_kind::goodbye},
    {.kind = frame_kind::request, .header_bytes = request_bytes, .id = 3, .offset = 9},
    {.kind = frame_kind::refusal, .id = 3},
    {.kind = frame_kind::receipt, .id = 1'000'000'000'000},
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
  EXPECT_FALSE(decode(encode({.kind = frame_kind::plain, .id = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::plain, .more = true})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::piece, .payload_bytes = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::piece, .id = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::goodbye, .payload_bytes = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::request, .header_bytes = 8, .id = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::refusal, .id = 1, .offset = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::receipt, .id = 1, .offset = 1})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind::receipt})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind{0}})));
  EXPECT_FALSE(decode(encode({.kind = frame_kind{77}})));
}

TEST(frame, unused_bits_that_are_set_are_refused) {
  auto image = encode(good_ones[0]);
  image[1] = std::byte{2};
  EXPECT_FALSE(decode(image));
}

TEST(memory_request_image, comes_back_as_it_was_written_and_nothing_else_is_read) {
  const memory_request get{.bytes = 100, .answer = 5};
  const memory_request swap{.bytes = 8,
                            .answer = 6,
                            .changes = true,
                            .change = {.what = operation::swap, .operand = 1, .expected = 2}};
  for (const auto& r : {get, swap}) {
    std::array<std::byte, request_bytes> image;
    encode(r, image);
    const auto back = decode_request(image);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->bytes, r.bytes);
    EXPECT_EQ(back->answer, r.answer);
    EXPECT_EQ(back->changes, r.changes);
    EXPECT_EQ(back->change.what, r.change.what);
    EXPECT_EQ(back->change.operand, r.change.operand);
    EXPECT_EQ(back->change.expected, r.change.expected);
    image[33] = std::byte{1};
    EXPECT_FALSE(decode_request(image)) << "no operation";
    encode({.bytes = 0, .answer = 1}, image);
    EXPECT_FALSE(decode_request(image)) << "nothing is asked for";
    encode({.bytes = 16, .answer = 1, .changes = true}, image);
    EXPECT_FALSE(decode_request(image)) << "an atomic of more than a word";
  }
}

TEST(frame, padding_ends_at_a_multiple_of_eight) {
  for (std::size_t bytes = 0; bytes < 100; ++bytes) {
    EXPECT_EQ((bytes + padding_of(bytes)) % 8, 0u);
    EXPECT_LT(padding_of(bytes), 8u);
  }
}

}  // namespace
}  // namespace headway::rails::tcp::tcp_wire_tests
