#include "tools/mpiexec/hand_over.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace headway::mpiexec {
namespace {

using testing::HasSubstr;

options wish_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  auto made = parse_options(words);
  EXPECT_TRUE(made) << line << ": " << (made ? "" : made.error().text);
  return made.value_or(options{});
}

std::string command(launcher kind, const std::string& line) {
  const auto made = command_for({kind, "L"}, wish_of(line));
  return made ? fmt::format("{}", fmt::join(*made, " ")) : "refused: " + made.error().text;
}

TEST(hand_over, hydra_gets_its_own_options) {
  EXPECT_EQ(command(launcher::hydra, "-host a,b:2 -n 3 ./p x"), "L -hosts a,b:2 -n 3 ./p x");
  EXPECT_EQ(command(launcher::hydra,
                    "-host a,b -ppn 2 --bind-to core -l -x A=1 -launcher ssh --env B=2 ./p : "
                    "-n 1 --wdir /t ./q"),
            "L -hosts a,b -ppn 2 -bind-to core -prepend-rank -launcher ssh -genv A 1 -n 4 -env B 2 "
            "./p : -n 1 -wdir /t ./q");
}

TEST(hand_over, prterun_gets_its_own_options) {
  EXPECT_EQ(command(launcher::prterun,
                    "--host a:2,b:2 --tag-output --bind-to none -x PATH -x A=1 --timeout 1.5 "
                    "--allow-run-as-root ./p"),
            "L --host a:2,b:2 --bind-to none --output tag --timeout 2 --allow-run-as-root -x PATH "
            "-x A=1 -n 4 ./p");
  EXPECT_EQ(command(launcher::prterun, "--host a,b -N 2 --output-filename log ./p"),
            "L --host a,b --map-by ppr:2:node --output file=log -n 4 ./p");
}

TEST(hand_over, srun_gets_its_own_options) {
  EXPECT_EQ(command(launcher::srun, "-host a:2,b:2 --bind-to socket -l --wdir /t ./p x"),
            "L --mpi=pmi2 --nodelist=a,b --nodes=2 --ntasks=4 --kill-on-bad-exit=1 "
            "--ntasks-per-node=2 --cpu-bind=sockets --label --input=0 --chdir=/t ./p x");
  EXPECT_EQ(command(launcher::srun, "-host a --outfile-pattern out.%r -n 1 ./p"),
            "L --mpi=pmi2 --nodelist=a --nodes=1 --ntasks=1 --kill-on-bad-exit=1 --input=0 "
            "--output=out.%t ./p");
}

TEST(hand_over, what_the_other_launcher_lacks_is_named) {
  EXPECT_THAT(command(launcher::srun, "-host a ./p : ./q"), HasSubstr("refused: ':'"));
  EXPECT_THAT(command(launcher::srun, "-host a --timeout 3 ./p"), HasSubstr("refused: --timeout"));
  EXPECT_THAT(command(launcher::hydra, "-host a --gdb ./p"), HasSubstr("refused: --gdb"));
  EXPECT_THAT(command(launcher::hydra, "-host a --stdin all ./p"), HasSubstr("refused: --stdin"));
  EXPECT_THAT(command(launcher::prterun, "-host a --keep-going ./p"), HasSubstr("--keep-going"));
}

TEST(hand_over, hosts_come_from_files_of_every_launcher) {
  const auto path = testing::TempDir() + fmt::format("hosts{}", getpid());
  std::ofstream(path) << "# comment\n\na\nb:2   # Hydra\nc slots=3 max_slots=4\n";
  EXPECT_EQ(command(launcher::hydra, "-hostfile " + path + " ./p"), "L -hosts a,b:2,c:3 -n 6 ./p");
  std::filesystem::remove(path);
  EXPECT_FALSE(parse_options({"-f", path, "./p"}));
}

TEST(hand_over, this_machine_has_several_names) {
  EXPECT_TRUE(all_here({}));
  EXPECT_TRUE(all_here({{"localhost", 4}, {"127.0.0.1", 0}}));
  EXPECT_FALSE(all_here({{"localhost", 0}, {"headway-no-such-host", 0}}));
}

TEST(hand_over, srun_is_first_in_an_allocation_and_last_outside) {
  const auto folder = testing::TempDir() + fmt::format("launchers{}", getpid());
  std::filesystem::create_directories(folder);
  EXPECT_FALSE(find_launcher(folder, false));
  const auto add = [&](const std::string& name) {
    std::ofstream(folder + "/" + name) << "#!/bin/sh\n";
    chmod((folder + "/" + name).c_str(), 0755);
  };
  add("srun");
  EXPECT_EQ(find_launcher(folder, false)->kind, launcher::srun);
  add("prterun");
  EXPECT_EQ(find_launcher(folder, false)->kind, launcher::prterun);
  add("mpiexec.hydra");
  EXPECT_EQ(find_launcher(folder, false)->kind, launcher::hydra);
  EXPECT_EQ(find_launcher(folder, true)->kind, launcher::srun);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headway::mpiexec
