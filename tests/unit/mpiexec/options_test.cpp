#include "tools/mpiexec/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
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
  auto made = parse("-ppn 3 ./p : -n 2 ./q");
  made->settle_rank_counts({});
  EXPECT_EQ(made->rank_count(), 5);
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

TEST(options, one_dash_is_as_good_as_two) {
  const auto made = parse("--np 2 -label -bind-to core --report-bindings -timeout 1 ./p");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->label && made->report_bindings);
  EXPECT_EQ(made->placement.bind, place_level::core);
}

TEST(options, ranks_are_lists_with_ranges) {
  const auto made = parse("-stdin 0,2-3 --gdb=1 ./p");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->input.text(), "0,2-3");
  EXPECT_TRUE(made->input.has(3));
  EXPECT_FALSE(made->input.has(1));
  EXPECT_EQ(made->debugged->text(), "1");
  EXPECT_EQ(parse("-s all -gdb ./p")->input.text(), "all");
  EXPECT_EQ(parse("-s none -gdb ./p")->debugged->text(), "all");
}

TEST(options, variables_are_exported_with_a_value_or_as_they_are) {
  const auto made = parse("-x A=1 -x DISPLAY ./p");
  EXPECT_THAT(made->environment, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(made->exported, ElementsAre("DISPLAY"));
}

TEST(options, output_goes_to_files_by_three_spellings) {
  EXPECT_EQ(parse("--output-filename a%b ./p")->output_pattern, "a%%b.%r");
  EXPECT_EQ(parse("--output tag,file=log ./p")->error_pattern, "log.%r");
  EXPECT_TRUE(parse("--output tag,file=log ./p")->label);
  EXPECT_EQ(parse("-outfile-pattern o.%r ./p")->error_pattern, "");
}

TEST(options, what_is_displayed_is_a_list) {
  EXPECT_TRUE(parse("--display bind ./p")->report_bindings);
  EXPECT_FALSE(parse("--display map-devel ./p")->verbose);
  const auto made = parse("--display allocation,map ./p");
  EXPECT_TRUE(made->report_bindings && made->verbose);
}

TEST(options, what_is_about_another_librarys_inside_is_said_to_have_no_effect) {
  const auto made = parse("--mca btl tcp,self -n 2 ./p");
  ASSERT_TRUE(made);
  ASSERT_EQ(made->notes.size(), 1u);
  EXPECT_THAT(made->notes[0], HasSubstr("--mca btl tcp,self"));
  EXPECT_TRUE(parse("-launcher ssh -iface eth0 ./p")->notes.empty());
}

TEST(options, a_configuration_file_has_a_line_for_each_program) {
  const auto path = testing::TempDir() + "mpiexec_configuration";
  std::ofstream(path) << "# two programs\n-n 2 --env 'A=b c' ./p \"x y\"\n\n-n 3 \\\n ./q z\\ w\n";
  const auto made = parse("-l -configfile " + path);
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_TRUE(made->label);
  ASSERT_EQ(made->blocks.size(), 2u);
  EXPECT_EQ(made->rank_count(), 5);
  EXPECT_THAT(made->blocks[0].command, ElementsAre("./p", "x y"));
  EXPECT_THAT(made->blocks[0].environment, ElementsAre(Pair("A", "b c")));
  EXPECT_THAT(made->blocks[1].command, ElementsAre("./q", "z w"));
  for (const auto* wrong : {"./p 'x", "-configfile x ./p", "# nothing"}) {
    std::ofstream(path) << wrong << '\n';
    EXPECT_FALSE(parse("-configfile " + path)) << wrong;
  }
  std::filesystem::remove(path);
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
      {"--lable ./p", "did you mean --label?"},
      {"-tiemout 3 ./p", "did you mean --timeout?"},
      {"-hosts a:0 ./p", "a:0 is not a host"},
      {"-hostfile /no/such/file ./p", "No such file"},
      {"-configfile /no/such/file", "No such file"},
      {"--bind-to cores ./p", "accepted: none, hwthread, core"},
      {"--map-by ppr:2 ./p", "--map-by ppr:2"},
      {"-stdin x ./p", "-stdin x"},
      {"-stdin 3-1 ./p", "-stdin 3-1"},
      {"--output xml ./p", "write: tag or file=NAME"},
      {"--display topo ./p", "write: bind, map or allocation"},
      {"--rankfle f ./p", "unknown option --rankfle; instead of --rankfile, write: --bind-to"},
      {"--xterm 1 ./p", "write: mpiexec -n 1 xterm"},
      {"-genvnone ./p", "write: env -i"},
      {"--mca btl", "wants a value"},
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
