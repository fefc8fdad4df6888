#include "launch/spawn_request.hpp"

#include <gtest/gtest.h>

namespace headway::launch::spawn_request_tests {
namespace {

TEST(spawn_request, comes_back_as_it_was) {
  const spawn_request none;
  EXPECT_EQ(spawn_request::unpack(none.packed()), none);
  const spawn_request some{.arguments = {"-n", "2", "./a b", "\xff\n\\ ", ""},
                           .environment = {"A=b", "B="},
                           .directory = "/tmp/ä"};
  EXPECT_EQ(spawn_request::unpack(some.packed()), some);
}

TEST(spawn_request, is_refused_if_anything_is_missing_or_too_much) {
  const spawn_request some{.arguments = {"a"}, .environment = {"B=c"}, .directory = "d"};
  const auto word = some.packed();
  for (std::size_t length = 0; length < word.size(); ++length)
    EXPECT_FALSE(spawn_request::unpack(word.substr(0, length))) << length;
  EXPECT_FALSE(spawn_request::unpack(word + "00"));
  EXPECT_FALSE(spawn_request::unpack(word + "0g"));
  EXPECT_FALSE(
      spawn_request::unpack("00"
                            "3939393939393900"
                            "3000"))
      << "a count of seven digits";
  EXPECT_FALSE(
      spawn_request::unpack("00"
                            "2d3100"
                            "3000"))
      << "a count of -1";
  const spawn_request large{.arguments = {std::string(spawn_request::packed_bytes_max / 2, 'x')}};
  EXPECT_FALSE(spawn_request::unpack(large.packed()));
}

TEST(outer_launcher, is_known_by_its_variables) {
  EXPECT_TRUE(is_of_outer_launcher("PMI_RANK=3"));
  EXPECT_TRUE(is_of_outer_launcher("HEADWAY_PARENT_PORT=x"));
  EXPECT_FALSE(is_of_outer_launcher("PATH=/bin"));
  EXPECT_FALSE(is_of_outer_launcher("HEADWAY_WAIT=busy"));
}

}  // namespace
}  // namespace headway::launch::spawn_request_tests
