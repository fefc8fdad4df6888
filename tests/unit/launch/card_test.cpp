#include "launch/card.hpp"

#include <gtest/gtest.h>

namespace headway::launch {
namespace {

std::vector<std::byte> bytes(std::size_t count, int seed) {
  std::vector<std::byte> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<std::byte>(i * 37 + static_cast<std::size_t>(seed));
  return made;
}

TEST(card, comes_back_as_it_was_packed) {
  const card entries{{"", bytes(3, 1)}, {"shm", bytes(0, 0)}, {"tcp:eth0", bytes(70'000, 5)}};
  EXPECT_EQ(unpack_card(pack_card(entries)), entries);
  EXPECT_EQ(unpack_card({}), card{});
}

TEST(card, refuses_every_cut_of_a_packed_card) {
  const auto packed = pack_card({{"name", bytes(9, 2)}});
  for (std::size_t size = 1; size < packed.size(); ++size)
    EXPECT_FALSE(unpack_card(std::span(packed).first(size))) << size;
}

TEST(card, refuses_lengths_that_reach_beyond_the_end) {
  auto packed = pack_card({{"name", bytes(9, 2)}});
  for (std::size_t at = 5; at < 9; ++at) {
    auto forged = packed;
    forged[at] = std::byte{0xff};
    EXPECT_FALSE(unpack_card(forged)) << at;
  }
  packed[0] = std::byte{200};
  EXPECT_FALSE(unpack_card(packed));
}

TEST(wire_text, carries_any_bytes_in_letters_digits_dash_and_underscore) {
  for (std::size_t count = 0; count < 70; ++count) {
    const auto in = bytes(count, 251);
    const auto text = to_wire_text(in);
    EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789-_"),
              std::string::npos);
    EXPECT_EQ(from_wire_text(text), in);
  }
}

TEST(wire_text, refuses_other_characters_and_impossible_lengths) {
  for (const auto* text : {"A", "AB C", "AAAA=", "AAA+", "AA\nA", "AAAAA"})
    EXPECT_FALSE(from_wire_text(text)) << text;
}

}  // namespace
}  // namespace headway::launch
