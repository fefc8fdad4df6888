#include "base/tunable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace headway::base {
namespace {

number_tunable bytes(const char* name) {
  return {name, "bytes", 4096, 64, 1 << 20, "to be tested"};
}

struct setting {
  setting(const char* n, const char* value) : name(n) { setenv(n, value, 1); }
  ~setting() { unsetenv(name); }
  const char* name;
};

std::string told(const auto& action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

TEST(tunable, is_its_default_when_the_environment_is_silent) {
  const auto t = bytes("HEADWAY_TEST_SILENT");
  EXPECT_EQ(t.get(), 4096);
  EXPECT_STREQ(t.origin(), "default");
  EXPECT_EQ(t.value_text(), "4096");
}

TEST(tunable, takes_numbers_with_suffixes_of_1024) {
  const setting k("HEADWAY_TEST_K", "64k"), m("HEADWAY_TEST_M", "1M"), n("HEADWAY_TEST_N", "100");
  EXPECT_EQ(bytes("HEADWAY_TEST_K").get(), 64 * 1024);
  EXPECT_EQ(bytes("HEADWAY_TEST_M").get(), 1 << 20);
  EXPECT_EQ(bytes("HEADWAY_TEST_N").get(), 100);
}

TEST(tunable, reports_where_its_value_comes_from) {
  const setting s("HEADWAY_TEST_ORIGIN", "128");
  EXPECT_STREQ(bytes("HEADWAY_TEST_ORIGIN").origin(), "environment");
}

TEST(tunable, refuses_nonsense_and_what_is_out_of_bounds_in_one_line) {
  for (const char* value : {"", "many", "12x", "63", "2M", "9999999999999999999", "-5", "1 k"}) {
    const setting s("HEADWAY_TEST_BAD", value);
    const auto t = bytes("HEADWAY_TEST_BAD");
    EXPECT_EQ(told([&] { EXPECT_EQ(t.get(), 4096); }),
              std::string("headway: HEADWAY_TEST_BAD=") + value +
                  " is not understood (accepted: 64 … 1048576); using 4096\n");
    EXPECT_STREQ(t.origin(), "default");
  }
}

TEST(tunable, reads_the_environment_once_and_complains_once) {
  const setting s("HEADWAY_TEST_ONCE", "bad");
  const auto t = bytes("HEADWAY_TEST_ONCE");
  EXPECT_NE(told([&] { EXPECT_EQ(t.get(), 4096); }), "");
  setenv("HEADWAY_TEST_ONCE", "100", 1);
  EXPECT_EQ(told([&] { EXPECT_EQ(t.get(), 4096); }), "");
}

TEST(tunable, chooses_one_word_of_its_list) {
  const setting s("HEADWAY_TEST_WORD", "green"), bad("HEADWAY_TEST_OTHER", "blue");
  const choice_tunable t{"HEADWAY_TEST_WORD", {"red", "green"}, "red", "to be tested"};
  EXPECT_EQ(t.index(), 1);
  EXPECT_EQ(t.range_text(), "red|green");
  const choice_tunable other{"HEADWAY_TEST_OTHER", {"red", "green"}, "green", "to be tested"};
  EXPECT_NE(told([&] { EXPECT_EQ(other.index(), 1); }), "");
}

TEST(tunable, gives_text_as_it_is) {
  const setting s("HEADWAY_TEST_TEXT", "any thing");
  const text_tunable t{"HEADWAY_TEST_TEXT", "none", "text", "to be tested"};
  EXPECT_EQ(t.get(), "any thing");
  const text_tunable u{"HEADWAY_TEST_UNSET", "none", "text", "to be tested"};
  EXPECT_EQ(u.get(), "none");
}

TEST(tunable, can_be_set_within_its_bounds_over_what_the_environment_says) {
  const setting s("HEADWAY_TEST_SET", "128");
  auto t = bytes("HEADWAY_TEST_SET");
  EXPECT_FALSE(t.set(63));
  EXPECT_EQ(t.get(), 128);
  EXPECT_TRUE(t.set(256));
  EXPECT_EQ(t.get(), 256);
  EXPECT_STREQ(t.origin(), "MPI_T");
  choice_tunable color{"HEADWAY_TEST_SET_WORD", {"red", "green"}, "red", "to be tested"};
  EXPECT_FALSE(color.set(2));
  EXPECT_FALSE(color.set(-1));
  EXPECT_TRUE(color.set(1));
  EXPECT_EQ(color.value_text(), "green");
  text_tunable text{"HEADWAY_TEST_SET_TEXT", "none", "text", "to be tested"};
  text.set("some");
  EXPECT_EQ(text.get(), "some");
  EXPECT_STREQ(text.origin(), "MPI_T");
}

TEST(tunable, is_listed_with_all_others_by_name) {
  const text_tunable z{"HEADWAY_TEST_Z", "", "text", "to be tested"};
  const text_tunable a{"HEADWAY_TEST_A", "", "text", "to be tested"};
  const auto all = tunable::all();
  const auto at = [&](const tunable* t) { return std::ranges::find(all, t); };
  ASSERT_NE(at(&a), all.end());
  ASSERT_NE(at(&z), all.end());
  EXPECT_LT(at(&a), at(&z));
}

}  // namespace
}  // namespace headway::base
