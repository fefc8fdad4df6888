#include "tools/mpiexec/hand_over.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "launch/environment.hpp"
#include "tools/mpiexec/program.hpp"
#include "tools/mpiexec/words.hpp"

namespace headway::mpiexec {
namespace {

constexpr int exit_bad_command_line = 2, exit_cannot_run = 126;

using word_list = std::vector<std::string>;

std::unexpected<base::fault> lacks(std::string_view launcher, std::string_view option) {
  return base::failed(base::fault_kind::unsupported,
                      fmt::format("{} cannot be handed over to {}, which starts the ranks on other "
                                  "machines",
                                  option, launcher));
}

std::string list_of(const std::vector<host>& hosts, bool with_slots) {
  std::vector<std::string> names;
  for (const auto& one : hosts)
    names.push_back(with_slots && one.slots > 0 ? fmt::format("{}:{}", one.name, one.slots)
                                                : one.name);
  return fmt::format("{}", fmt::join(names, ","));
}

/// The pattern of a file with the launcher's own mark in place of "%r".
std::string with_rank_as(const std::string& pattern, std::string_view mark) {
  std::string made;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.compare(i, 2, "%r") == 0) made += mark, ++i;
    else made += pattern[i];
  }
  return made;
}

void add(word_list& to, std::initializer_list<std::string> more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// The number of ranks of a block: as said, or as many as there are slots.
int count_of(const program_block& block, const options& wish) {
  if (block.rank_count) return *block.rank_count;
  int slots = 0;
  for (const auto& one : wish.hosts)
    slots += one.slots > 0 ? one.slots : std::max(wish.ranks_per_host, 1);
  return slots;
}

base::result<word_list> hydra_command(const std::string& path, const options& wish) {
  if (wish.debugged) return lacks("Hydra", "--gdb");
  if (wish.input.text() != "0") return lacks("Hydra", "--stdin");
  if (wish.placement.ranks_per_place > 0) return lacks("Hydra", "--map-by ppr");
  word_list made{path, "-hosts", list_of(wish.hosts, true)};
  if (wish.ranks_per_host > 0) add(made, {"-ppn", std::to_string(wish.ranks_per_host)});
  if (!wish.placement.bind_text.empty()) add(made, {"-bind-to", wish.placement.bind_text});
  if (!wish.placement.map_text.empty()) add(made, {"-map-by", wish.placement.map_text});
  if (wish.label) made.emplace_back("-prepend-rank");
  if (!wish.output_pattern.empty()) add(made, {"-outfile-pattern", wish.output_pattern});
  if (!wish.error_pattern.empty()) add(made, {"-errfile-pattern", wish.error_pattern});
  if (wish.keep_going) made.emplace_back("-disable-auto-cleanup");
  if (wish.verbose) made.emplace_back("-verbose");
  made.insert(made.end(), wish.for_hydra.begin(), wish.for_hydra.end());
  for (const auto& [name, value] : wish.environment) add(made, {"-genv", name, value});
  for (std::size_t i = 0; i < wish.blocks.size(); ++i) {
    const auto& block = wish.blocks[i];
    if (i > 0) made.emplace_back(":");
    add(made, {"-n", std::to_string(count_of(block, wish))});
    for (const auto& [name, value] : block.environment) add(made, {"-env", name, value});
    if (!block.directory.empty()) add(made, {"-wdir", block.directory});
    made.insert(made.end(), block.command.begin(), block.command.end());
  }
  return made;
}

base::result<word_list> prterun_command(const std::string& path, const options& wish) {
  if (wish.debugged) return lacks("prterun", "--gdb");
  if (wish.keep_going) return lacks("prterun", "--keep-going");
  if (wish.output_pattern != wish.error_pattern) return lacks("prterun", "--outfile-pattern");
  word_list made{path, "--host", list_of(wish.hosts, true)};
  if (!wish.placement.map_text.empty()) add(made, {"--map-by", wish.placement.map_text});
  else if (wish.ranks_per_host > 0)
    add(made, {"--map-by", fmt::format("ppr:{}:node", wish.ranks_per_host)});
  if (!wish.placement.bind_text.empty()) add(made, {"--bind-to", wish.placement.bind_text});
  if (wish.label) add(made, {"--output", "tag"});
  if (!wish.output_pattern.empty()) {
    const auto name = with_rank_as(wish.output_pattern, "");  // it adds the rank itself
    add(made, {"--output", "file=" + name.substr(0, name.find_last_not_of('.') + 1)});
  }
  if (wish.input.text() != "0") add(made, {"--stdin", wish.input.text()});
  if (wish.timeout_s)
    add(made, {"--timeout", std::to_string(static_cast<int>(std::ceil(*wish.timeout_s)))});
  made.insert(made.end(), wish.for_prterun.begin(), wish.for_prterun.end());
  for (const auto& name : wish.exported) add(made, {"-x", name});
  for (const auto& [name, value] : wish.environment) add(made, {"-x", name + "=" + value});
  for (std::size_t i = 0; i < wish.blocks.size(); ++i) {
    const auto& block = wish.blocks[i];
    if (i > 0) made.emplace_back(":");
    add(made, {"-n", std::to_string(count_of(block, wish))});
    for (const auto& [name, value] : block.environment) add(made, {"-x", name + "=" + value});
    if (!block.directory.empty()) add(made, {"--wdir", block.directory});
    made.insert(made.end(), block.command.begin(), block.command.end());
  }
  return made;
}

/// The word of Slurm for a level to bind to.
const char* slurm_level(place_level level) {
  switch (level) {
    case place_level::hwthread:
      return "threads";
    case place_level::core:
      return "cores";
    case place_level::l3cache:
    case place_level::numa:
      return "ldoms";
    case place_level::socket:
      return "sockets";
    case place_level::node:
      break;
  }
  return "none";
}

base::result<word_list> srun_command(const std::string& path, const options& wish) {
  if (wish.blocks.size() > 1) return lacks("srun", "':'");
  if (wish.debugged) return lacks("srun", "--gdb");
  if (wish.timeout_s) return lacks("srun", "--timeout");
  if (!wish.placement.map_text.empty()) return lacks("srun", "--map-by");
  const auto& block = wish.blocks.front();
  word_list made{path,
                 "--mpi=pmi2",
                 "--nodelist=" + list_of(wish.hosts, false),
                 fmt::format("--nodes={}", wish.hosts.size()),
                 fmt::format("--ntasks={}", count_of(block, wish)),
                 fmt::format("--kill-on-bad-exit={}", wish.keep_going ? 0 : 1)};
  const int slots = wish.hosts.front().slots;
  const bool equal =
      std::ranges::all_of(wish.hosts, [slots](const host& one) { return one.slots == slots; });
  if (!equal) return lacks("srun", "a number of ranks that differs between hosts");
  if (wish.ranks_per_host > 0 || slots > 0)
    made.push_back(
        fmt::format("--ntasks-per-node={}", wish.ranks_per_host > 0 ? wish.ranks_per_host : slots));
  if (wish.placement.bind)
    made.push_back(fmt::format("--cpu-bind={}{}", wish.report_bindings ? "verbose," : "",
                               slurm_level(*wish.placement.bind)));
  if (wish.label) made.emplace_back("--label");
  if (wish.input.text() != "0") made.push_back("--input=" + wish.input.text());
  else made.emplace_back("--input=0");
  if (!wish.output_pattern.empty())
    made.push_back("--output=" + with_rank_as(wish.output_pattern, "%t"));
  if (!wish.error_pattern.empty())
    made.push_back("--error=" + with_rank_as(wish.error_pattern, "%t"));
  if (!block.directory.empty()) made.push_back("--chdir=" + block.directory);
  if (wish.verbose) made.emplace_back("--verbose");
  made.insert(made.end(), block.command.begin(), block.command.end());
  return made;
}

}  // namespace

base::result<found_launcher> find_launcher(const std::string& search_path,
                                           bool in_slurm_allocation) {
  struct candidate {
    launcher kind;
    const char* name;
    bool may = true;
  };
  const candidate candidates[] = {{launcher::srun, "srun", in_slurm_allocation},
                                  {launcher::hydra, "mpiexec.hydra"},
                                  {launcher::prterun, "prterun"},
                                  {launcher::srun, "srun"}};
  for (const auto& one : candidates) {
    if (!one.may) continue;
    auto found = find_in_path(one.name, search_path);
    if (!found.empty()) return found_launcher{one.kind, std::move(found)};
  }
  return base::failed(base::fault_kind::unsupported,
                      "this mpiexec starts ranks on this machine only, and none of srun, "
                      "mpiexec.hydra and prterun, which start them on others, is in PATH");
}

base::result<word_list> command_for(const found_launcher& by, const options& wish) {
  switch (by.kind) {
    case launcher::srun:
      return srun_command(by.path, wish);
    case launcher::hydra:
      return hydra_command(by.path, wish);
    case launcher::prterun:
      return prterun_command(by.path, wish);
  }
  return {};
}

int hand_over(const options& wish, const char* const* ambient) {
  const launch::environment around(ambient);
  const auto by = find_launcher(std::string(around.find("PATH").value_or("/usr/bin:/bin")),
                                around.has("SLURM_JOB_ID"));
  auto command = by ? command_for(*by, wish) : base::result<word_list>(std::unexpected(by.error()));
  if (!command) {
    say(command.error().text);
    return exit_bad_command_line;
  }
  if (wish.verbose) say(fmt::format("handing over: {}", fmt::join(*command, " ")));
  variables all = wish.environment;
  if (by->kind == launcher::srun) {  // it passes the environment on; one program has all of it
    all.insert(all.end(), wish.blocks.front().environment.begin(),
               wish.blocks.front().environment.end());
  }
  if (by->kind == launcher::hydra && wish.timeout_s)
    all.emplace_back("MPIEXEC_TIMEOUT",
                     std::to_string(static_cast<int>(std::ceil(*wish.timeout_s))));
  for (const auto& [name, value] : all) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (auto& word : *command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(by->path.c_str(), arguments.data());
  say(fmt::format("{}: {}", by->path, strerror(errno)));
  return exit_cannot_run;
}

}  // namespace headway::mpiexec
