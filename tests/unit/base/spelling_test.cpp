#include "base/spelling.hpp"

#include <gtest/gtest.h>

namespace headway::base {
namespace {

constexpr std::string_view words[] = {"label", "timeout", "np", "n", "bind-to", "map-by"};

TEST(spelling, finds_a_word_with_a_letter_changed_added_left_out_or_exchanged) {
  EXPECT_EQ(nearest_word("lavel", words), "label");
  EXPECT_EQ(nearest_word("labell", words), "label");
  EXPECT_EQ(nearest_word("timeot", words), "timeout");
  EXPECT_EQ(nearest_word("lable", words), "label");
  EXPECT_EQ(nearest_word("pn", words), "np");
  EXPECT_EQ(nearest_word("bindto", words), "bind-to");
}

TEST(spelling, takes_the_nearest_of_several) {
  constexpr std::string_view close[] = {"HEADWAY_SHM_PIECES", "HEADWAY_SHM_PIECE"};
  EXPECT_EQ(nearest_word("HEADWAY_SHM_PICE", close), "HEADWAY_SHM_PIECE");
  EXPECT_EQ(nearest_word("HEADWAY_SHM_PEICES", close), "HEADWAY_SHM_PIECES");
}

TEST(spelling, finds_nothing_where_nothing_is_near) {
  EXPECT_EQ(nearest_word("z", words), "");
  EXPECT_EQ(nearest_word("verbose", words), "");
  EXPECT_EQ(nearest_word("", words), "");
  EXPECT_EQ(nearest_word("label", {}), "");
}

}  // namespace
}  // namespace headway::base
