#include "launch/pmi1/line_buffer.hpp"

#include <gtest/gtest.h>

namespace headway::launch::line_buffer_tests {
namespace {

TEST(line_buffer, hands_out_lines_however_the_bytes_come) {
  const std::string stream = "one\ntwo\n\nfour\n";
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    line_buffer buffer(100);
    std::string seen;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      buffer.append(std::string_view(stream).substr(at, step));
      while (const auto line = buffer.take_line()) seen += std::string(*line) + "|";
    }
    EXPECT_EQ(seen, "one|two||four|") << step;
  }
}

TEST(line_buffer, never_hands_out_a_line_above_its_limit) {
  line_buffer buffer(4);
  buffer.append("1234\n");
  EXPECT_FALSE(buffer.overlong());
  EXPECT_EQ(buffer.take_line(), "1234");
  buffer.append("1234");
  EXPECT_FALSE(buffer.overlong());
  buffer.append("5");
  EXPECT_TRUE(buffer.overlong());
  buffer.append("\n");
  EXPECT_TRUE(buffer.overlong());
  EXPECT_FALSE(buffer.take_line());
}

}  // namespace
}  // namespace headway::launch::line_buffer_tests
