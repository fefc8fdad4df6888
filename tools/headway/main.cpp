#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/spelling.hpp"
#include "collectives/tuned_table.hpp"
#include "tools/headway/bench.hpp"
#include "tools/headway/info.hpp"
#include "tools/headway/report.hpp"
#include "tools/headway/sample.hpp"
#include "tools/headway/top.hpp"
#include "tools/headway/tune.hpp"

// The command line of `headway`: one function for each subcommand, whose work is in the file of its
// name. The exit status goes to `status`. (CLI11 is included here alone: it takes seconds.)
namespace headway::tool {
namespace {

constexpr int exit_bad_command_line = 2;

void add_info(CLI::App& app, int& status) {
  const auto wanted = std::make_shared<info_options>();
  auto* command = app.add_subcommand("info", "Version, machine, rails, tunables, MPI functions");
  command->add_flag("--mpi", wanted->mpi, "only the MPI functions: which work, which do not");
  command->add_flag("--tunables", wanted->tunables, "only the tunables");
  command->add_flag("--collectives", wanted->collectives,
                    "only how the algorithm of a collective operation is chosen");
  command->add_flag("--changed", wanted->changed, "only the tunables that differ from the default");
  command->add_flag("--json", wanted->json, "everything, as one JSON object");
  command->add_option(
      "WORD", wanted->words,
      "only tunables and functions in whose name, meaning or group all words occur");
  command->callback([wanted, &status] { status = info(*wanted); });
}

void add_sample(CLI::App& app, int& status) {
  const auto wanted = std::make_shared<sample_options>();
  auto* command =
      app.add_subcommand("sample", "Measures the rails between two ranks and keeps their profiles");
  command->footer(
      "Between two machines start it as a job of two ranks: mpiexec.hydra -hosts a,b -n 2 headway "
      "sample, or srun -N 2 -n 2 --mpi=pmi2 headway sample. Alone it starts two ranks here. Of "
      "each network interface it also finds how many connections pay: streams over 1, 2 and 4 at "
      "once (up to HEADWAY_CONNECTIONS, if that is set) are compared, and later jobs between the "
      "two hosts have as many.");
  command->add_option("--rail", wanted->rails, "only rails of this name or pattern: tcp:eth*");
  command->add_option("--plot", wanted->plot, "draws rate against size into this SVG file");
  command->add_flag("--json", wanted->json, "every sample, as one JSON object");
  command->add_flag("--quick", wanted->quick, "some seconds instead of half a minute, up to 4 MB");
  command->add_flag("--forget", wanted->forget, "keeps nothing");
  command->callback([wanted, &status] { status = sample(*wanted); });
}

void add_tune(CLI::App& app, int& status) {
  const auto wanted = std::make_shared<tune_options>();
  auto* command = app.add_subcommand(
      "tune",
      "Measures which algorithm of each collective operation is quickest, and keeps the table");
  command->footer(
      "The table is for jobs with that many ranks on this machine, which read it at their start: "
      "headway info --collectives shows it. HEADWAY_COLLECTIVES is stronger. Nothing is kept while "
      "the machine is busy, or if the times are implausible. To start the ranks as the job will, "
      "put it behind a launcher: mpiexec -n 4 headway tune. To do without the table, remove its "
      "file.");
  command->add_option("-n,--ranks", wanted->ranks, "ranks to start [one a processor]")
      ->check(CLI::Range(2, collectives::tuned_shape::ranks_max));
  command->add_flag("--quick", wanted->quick, "fewer rounds");
  command->add_flag("--forget", wanted->forget, "keeps nothing");
  command->callback([wanted, &status] { status = tune(*wanted); });
}

void add_top(CLI::App& app, int& status) {
  const auto wanted = std::make_shared<top_options>();
  auto* command = app.add_subcommand("top",
                                     "What running processes do, live on the whole screen; they "
                                     "must run with HEADWAY_STATS=1 or 2");
  command->footer(
      "Keys: arrows, PgUp, PgDn, Home, End, r (reverse), Enter (all counters), ? and q. Where the "
      "output is no terminal, each look prints a line of JSON for each process.");
  command->add_option("PID", wanted->processes, "processes; none: all of yours that show something")
      ->check(CLI::PositiveNumber);
  command->add_option("--period", wanted->period_s, "seconds between two looks [1]")
      ->check(CLI::Range(0.1, 3600.0));
  command->add_flag("--once", wanted->once, "look once, print tables");
  command->add_flag("--json", wanted->json, "look once: an array with an object a process");
  command->callback([wanted, &status] { status = top(*wanted); });
}

void add_bench(CLI::App& app, int& status) {
  auto* command = app.add_subcommand("bench", "The experiments of the papers: list, E1, E2, …");
  command->prefix_command();
  command->set_help_flag();  // the Python side explains its options itself
  command->callback([command, &status] { status = bench(command->remaining()); });
}

void add_report(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
      "report", "Shows or compares the pages that HEADWAY_REPORT=FILE writes: --text FILE, A B");
  command->prefix_command();
  command->set_help_flag();  // as of `bench`
  command->callback([command, &status] { status = report(command->remaining()); });
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// False, after one line on standard error: the first word should be a command and is none.
bool check_command(const CLI::App& app, int argc, char** argv) {
  const auto names = names_of_commands(app);
  if (argc < 2 || argv[1][0] == '-' || std::ranges::find(names, argv[1]) != names.end())
    return true;
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = base::nearest_word(argv[1], known);
  fmt::print(stderr, "headway: no command is named {}{}; there are: {}\n", argv[1],
             near.empty() ? "" : fmt::format(": did you mean {}?", near), fmt::join(names, ", "));
  return false;
}

/// The option that a misspelt one probably stands for, with its dashes; empty: none is near.
std::string nearest_option(const CLI::App& command, std::string_view word) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  const std::vector<std::string_view> known(names.begin(), names.end());
  word.remove_prefix(std::min(word.size(), word.find_first_not_of('-')));
  const auto near = base::nearest_word(word, known);
  return near.empty() ? "" : fmt::format("--{}", near);
}

/// One line about a command line that is wrong. A word that is not understood comes first: what
/// else is wrong may follow from it.
std::string wrong_text(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const bool general = chosen.empty() || !app.remaining().empty();
  const CLI::App& command = general ? app : *chosen.front();
  const auto name = general ? "headway" : fmt::format("headway: {}", command.get_name());
  const auto help =
      general ? "headway --help" : fmt::format("headway {} --help", command.get_name());
  const auto left = command.remaining();
  if (left.empty() && general)
    return fmt::format("headway: no command is given; there are: {}",
                       fmt::join(names_of_commands(app), ", "));
  if (left.empty()) return fmt::format("{}: {} ({})", name, error.what(), help);
  const auto option =
      std::ranges::find_if(left, [](const auto& word) { return word.starts_with('-'); });
  if (option == left.end()) return fmt::format("{}: unexpected {} ({})", name, left[0], help);
  const auto word = option->substr(0, option->find('='));
  const auto near = nearest_option(command, word);
  return near.empty() ? fmt::format("{}: unknown option {} ({})", name, word, help)
                      : fmt::format("{}: unknown option {}: did you mean {}?", name, word, near);
}

/// Reads the command line; the callback of its command does what it says. Returns the exit status
/// of a wrong command line; 0 after --help and --version.
int parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}\n", wrong_text(app, error));
    return exit_bad_command_line;
  }
  return 0;
}

/// Does what the command line says. Returns the exit status.
int run(int argc, char** argv) {
  CLI::App app{"Headway: MPI whose messages make headway while the program computes", "headway"};
  app.set_version_flag("--version", "headway " HEADWAY_VERSION);
  app.require_subcommand(1);
  int status = 0;
  add_info(app, status);
  add_sample(app, status);
  add_tune(app, status);
  add_top(app, status);
  add_bench(app, status);
  add_report(app, status);
  if (!check_command(app, argc, argv)) return exit_bad_command_line;
  const int parsed = parse(app, argc, argv);
  return parsed != 0 ? parsed : status;
}

}  // namespace
}  // namespace headway::tool

int main(int argc, char** argv) {
  try {
    const int status = headway::tool::run(argc, argv);
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    return status;
  } catch (const std::exception& error) {  // out of memory, or the output cannot be written
    std::fprintf(stderr, "headway: %s\n", error.what());
    return 1;
  }
}
