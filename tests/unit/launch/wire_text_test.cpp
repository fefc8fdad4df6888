#include "launch/wire_text.hpp"

#include <gtest/gtest.h>

namespace headway::launch::wire_text_tests {
namespace {

std::vector<std::byte> bytes(std::size_t count, int seed) {
  std::vector<std::byte> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<std::byte>(i * 37 + static_cast<std::size_t>(seed));
  return made;
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
}  // namespace headway::launch::wire_text_tests
