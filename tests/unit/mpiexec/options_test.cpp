#include "tools/mpiexec/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace headway::mpiexec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

base::result<options> parse(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return parse_options(words);
}

TEST(options, what_stands_behind_the_program_is_the_programs) {
  const auto made = parse("-n 4 --label ./p -n 7 --label");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->label);
  ASSERT_EQ(made->blocks.size(), 1u);
  EXPECT_EQ(made->blocks[0].rank_count, 4);
  EXPECT_THAT(made->blocks[0].command, ElementsAre("./p", "-n", "7", "--label"));
}

TEST(options, without_a_number_there_is_one_rank) {
  EXPECT_EQ(parse("./p")->rank_count(), 1);
  EXPECT_EQ(parse("-- -odd-name")->blocks[0].command.front(), "-odd-name");
}

TEST(options, each_program_has_its_own_number_directory_and_environment) {
  const auto made = parse("-np 2 --env A=1 --wdir /tmp ./a x : -n 3 --env=B=2=3 -env C 4 ./b");
  ASSERT_TRUE(made);
  ASSERT_EQ(made->blocks.size(), 2u);
  EXPECT_EQ(made->rank_count(), 5);
  EXPECT_EQ(made->blocks[0].directory, "/tmp");
  EXPECT_EQ(made->blocks[1].directory, "");
  EXPECT_THAT(made->blocks[0].environment, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(made->blocks[1].environment, ElementsAre(Pair("B", "2=3"), Pair("C", "4")));
  EXPECT_THAT(made->blocks[0].command, ElementsAre("./a", "x"));
}

TEST(options, what_concerns_the_job_may_stand_at_any_program) {
  const auto made = parse("./a : --timeout 2.5 --keep-going --genv X=1 ./b");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->timeout_s, 2.5);
  EXPECT_TRUE(made->keep_going);
  EXPECT_THAT(made->environment, ElementsAre(Pair("X", "1")));
}

TEST(options, help_and_version_need_no_program) {
  EXPECT_TRUE(parse("--help")->help);
  EXPECT_TRUE(parse("-n 2 --version")->version);
}

TEST(options, what_is_wrong_is_named_in_one_line) {
  const struct {
    const char* line;
    const char* named;
  } cases[] = {
      {"", "no program"},
      {"-n 2", "program is missing"},
      {"./p :", "program is missing"},
      {": ./p", "program is missing"},
      {"-n", "-n wants"},
      {"-n 0 ./p", "-n 0"},
      {"-n x ./p", "-n x"},
      {"-n 2x ./p", "-n 2x"},
      {"-n 70000 ./p", "-n 70000"},
      {"-n 60000 ./p : -n 60000 ./p", "more than"},
      {"--foo ./p", "--foo"},
      {"--timeout 0 ./p", "--timeout 0"},
      {"--timeout x ./p", "--timeout x"},
      {"--env A ./p", "--env A"},
      {"--env =1 ./p", "--env =1"},
      {"--label=1 ./p", "--label takes no value"},
      {"--wdir= ./p", "--wdir wants"},
      {"-hosts a,b ./p", "this machine only"},
  };
  for (const auto& one : cases) {
    const auto made = parse(one.line);
    ASSERT_FALSE(made) << one.line;
    EXPECT_THAT(made.error().text, HasSubstr(one.named)) << one.line;
    EXPECT_EQ(made.error().text.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace headway::mpiexec
