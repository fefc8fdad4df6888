#include "launch/pmi1/pmi_line.hpp"

#include <gtest/gtest.h>

namespace headway::launch::pmi_line_tests {
namespace {

TEST(pmi_line, finds_fields_by_name_wherever_they_stand) {
  for (const auto* text : {"cmd=get_result rc=0 value=x", "cmd=get_result value=x rc=0",
                           "cmd=get_result  unknown=1 value=x rc=0 ", "cmd=get_result value=x\r"}) {
    const auto line = pmi_line::parse(text);
    ASSERT_TRUE(line) << text;
    EXPECT_EQ(line->command(), "get_result");
    EXPECT_EQ(line->find("value"), "x");
    EXPECT_TRUE(line->succeeded());
    EXPECT_FALSE(line->find("valu"));
  }
}

TEST(pmi_line, passes_over_words_without_an_equals_sign) {
  const auto line = pmi_line::parse("cmd=abort exitcode=7 oh dear");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->number("exitcode"), 7);
}

TEST(pmi_line, keeps_equals_signs_and_empty_values) {
  const auto line = pmi_line::parse("cmd=put key= value=a=b");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->find("key"), "");
  EXPECT_EQ(line->find("value"), "a=b");
}

TEST(pmi_line, refuses_what_does_not_begin_with_a_command) {
  for (const auto* text : {"", " ", "x", "rc=0 cmd=put", "cmd=", "=", "hello cmd"})
    EXPECT_FALSE(pmi_line::parse(text)) << text;
  EXPECT_TRUE(pmi_line::parse("mcmd=spawn")->is_multi_line());
}

TEST(pmi_line, refuses_more_fields_than_it_holds) {
  std::string text = "cmd=x";
  for (std::size_t i = 1; i < pmi_line::fields_max; ++i) text += " a=b";
  EXPECT_TRUE(pmi_line::parse(text));
  EXPECT_FALSE(pmi_line::parse(text + " a=b"));
}

TEST(pmi_line, a_missing_rc_is_success_and_any_other_than_zero_is_not) {
  EXPECT_TRUE(pmi_line::parse("cmd=maxes")->succeeded());
  for (const auto* text : {"cmd=x rc=1", "cmd=x rc=-1", "cmd=x rc=", "cmd=x rc=ok"})
    EXPECT_FALSE(pmi_line::parse(text)->succeeded()) << text;
}

TEST(pmi_line, free_text_survives_as_one_value) {
  const std::string text = "back\\slash and  blanks = fine\\";
  const auto line = pmi_line::parse("cmd=abort message=" + escaped(text) + " exitcode=3");
  ASSERT_TRUE(line);
  EXPECT_EQ(unescaped(*line->find("message")), text);
  EXPECT_EQ(line->number("exitcode"), 3);
}

TEST(pmi_line, stays_valid_when_it_is_moved) {
  auto line = pmi_line::parse("cmd=a b=c");
  const auto moved = *std::move(line);
  EXPECT_EQ(moved.find("b"), "c");
}

TEST(decimal, takes_numbers_and_nothing_else) {
  EXPECT_EQ(decimal("-12"), -12);
  for (const auto* text : {"", " 1", "1 ", "0x1", "1.5", "99999999999999999999"})
    EXPECT_FALSE(decimal(text)) << text;
}

}  // namespace
}  // namespace headway::launch::pmi_line_tests
