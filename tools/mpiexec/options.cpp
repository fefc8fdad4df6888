#include "tools/mpiexec/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace headway::mpiexec {
namespace {

using base::failed;
using base::fault_kind;

enum class word {
  rank_count,
  environment,
  environment_pair,
  environment_for_all,
  directory,
  label,
  timeout,
  keep_going,
  version,
  help,
  nothing,
  more_machines
};

struct spelling {
  std::string_view text;
  word meaning;
};

// The last rows are options of other launchers: accepted without effect, or refused with the
// reason.
constexpr spelling spellings[] = {
    {"-n", word::rank_count},
    {"-np", word::rank_count},
    {"--n", word::rank_count},
    {"--np", word::rank_count},
    {"--env", word::environment},
    {"-env", word::environment_pair},
    {"--genv", word::environment_for_all},
    {"-genv", word::environment_for_all},
    {"--wdir", word::directory},
    {"-wdir", word::directory},
    {"--label", word::label},
    {"-label", word::label},
    {"-l", word::label},
    {"--timeout", word::timeout},
    {"-timeout", word::timeout},
    {"--keep-going", word::keep_going},
    {"--version", word::version},
    {"-version", word::version},
    {"-V", word::version},
    {"--help", word::help},
    {"-help", word::help},
    {"-h", word::help},
    {"--oversubscribe", word::nothing},
    {"--allow-run-as-root", word::nothing},
    {"-hosts", word::more_machines},
    {"-host", word::more_machines},
    {"--host", word::more_machines},
    {"-f", word::more_machines},
    {"-hostfile", word::more_machines},
    {"--hostfile", word::more_machines},
    {"-machinefile", word::more_machines},
    {"--machinefile", word::more_machines},
};

std::optional<word> meaning_of(std::string_view text) {
  const auto found = std::ranges::find(spellings, text, &spelling::text);
  return found == std::end(spellings) ? std::nullopt : std::optional(found->meaning);
}

std::unexpected<base::fault> wrong(std::string text) {
  return failed(fault_kind::bad_input, std::move(text));
}

/// Walks over the words of the command line and fills the options.
class parser {
 public:
  explicit parser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  base::result<options> parse() {
    while (!made_.help && !made_.version) {
      if (auto done = parse_block(); !done) return std::unexpected(done.error());
      if (at_ == arguments_.size()) break;
      ++at_;  // the ':'
    }
    if (!made_.help && !made_.version && made_.rank_count() > rank_count_max)
      return wrong(fmt::format("more than {} ranks", rank_count_max));
    return std::move(made_);
  }

 private:
  base::result<> parse_block() {
    program_block block;
    while (at_ < arguments_.size() && arguments_[at_].starts_with('-')) {
      if (arguments_[at_] == "--") {
        ++at_;
        break;
      }
      if (auto done = parse_option(block); !done) return done;
      if (made_.help || made_.version) return {};
    }
    while (at_ < arguments_.size() && arguments_[at_] != ":")
      block.command.push_back(arguments_[at_++]);
    if (block.command.empty())
      return wrong(arguments_.empty() ? "no program given (mpiexec --help)"
                                      : "a program is missing after the options");
    made_.blocks.push_back(std::move(block));
    return {};
  }

  base::result<> parse_option(program_block& block) {
    name_ = arguments_[at_++];
    value_.reset();
    if (const auto equals = name_.find('='); name_.starts_with("--") && equals != name_.npos) {
      value_ = name_.substr(equals + 1);
      name_.resize(equals);
    }
    const auto meaning = meaning_of(name_);
    if (!meaning) return wrong(fmt::format("unknown option {} (mpiexec --help)", name_));
    if (value_ && *meaning >= word::label && *meaning != word::timeout)
      return wrong(fmt::format("{} takes no value", name_));
    return apply(*meaning, block);
  }

  base::result<> apply(word meaning, program_block& block) {
    switch (meaning) {
      case word::rank_count:
        return take_rank_count(block);
      case word::environment:
        return take_environment(block.environment, false);
      case word::environment_pair:
        return take_environment(block.environment, true);
      case word::environment_for_all:
        return take_environment(made_.environment, true);
      case word::directory:
        return take_text(block.directory, "a directory");
      case word::timeout:
        return take_timeout();
      case word::label:
        made_.label = true;
        break;
      case word::keep_going:
        made_.keep_going = true;
        break;
      case word::version:
        made_.version = true;
        break;
      case word::help:
        made_.help = true;
        break;
      case word::nothing:
        break;
      case word::more_machines:
        return wrong(
            fmt::format("{}: this mpiexec starts ranks on this machine only (more "
                        "machines: srun --mpi=pmi2)",
                        name_));
    }
    return {};
  }

  base::result<> take_text(std::string& into, std::string_view wanted) {
    if (!value_ && at_ < arguments_.size()) value_ = arguments_[at_++];
    if (!value_ || value_->empty()) return wrong(fmt::format("{} wants {}", name_, wanted));
    into = *value_;
    return {};
  }

  base::result<> take_rank_count(program_block& block) {
    std::string text;
    if (auto done = take_text(text, "a number of ranks"); !done) return done;
    const auto end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, block.rank_count);
    if (error != std::errc{} || at != end || block.rank_count < 1 ||
        block.rank_count > rank_count_max)
      return wrong(
          fmt::format("{} {}: not a number of ranks (1 … {})", name_, text, rank_count_max));
    return {};
  }

  /// NAME=VALUE; with `pair_allowed` also NAME VALUE, as Hydra has it.
  base::result<> take_environment(std::vector<std::pair<std::string, std::string>>& into,
                                  bool pair_allowed) {
    std::string text;
    if (auto done = take_text(text, "NAME=VALUE"); !done) return done;
    const auto equals = text.find('=');
    if (equals != text.npos && equals > 0) {
      into.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    } else if (pair_allowed && equals == text.npos && at_ < arguments_.size()) {
      into.emplace_back(text, arguments_[at_++]);
    } else {
      return wrong(fmt::format("{} {}: not NAME=VALUE", name_, text));
    }
    return {};
  }

  base::result<> take_timeout() {
    std::string text;
    if (auto done = take_text(text, "a number of seconds"); !done) return done;
    double seconds = 0;
    const auto end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, seconds);
    if (error != std::errc{} || at != end || !(seconds > 0) || seconds > 1e9)
      return wrong(fmt::format("{} {}: not a number of seconds above 0", name_, text));
    made_.timeout_s = seconds;
    return {};
  }

  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  std::string name_;                  ///< of the option at hand
  std::optional<std::string> value_;  ///< what stood behind its '='
  options made_;
};

}  // namespace

int options::rank_count() const noexcept {
  std::int64_t sum = 0;
  for (const auto& block : blocks) sum += block.rank_count;
  return static_cast<int>(std::min<std::int64_t>(sum, rank_count_max + 1));
}

base::result<options> parse_options(const std::vector<std::string>& arguments) {
  return parser(arguments).parse();
}

const char* help_text() noexcept {
  return R"(usage: mpiexec [OPTION…] [-n N] PROGRAM [ARGUMENT…] [: [OPTION…] [-n N] PROGRAM …]

Starts N ranks of PROGRAM on this machine as one MPI job; ':' adds ranks of another program.

For the program that follows:
  -n N, -np N           number of ranks (1)
  --env NAME=VALUE      environment variable; may be given again and again
  --wdir DIRECTORY      where its ranks start; a relative PROGRAM is looked for there, then here
For the whole job:
  --genv NAME=VALUE     environment variable for all programs
  --label               begin each line of output with the rank that wrote it: "0: …"
  --timeout SECONDS     end the job after this time, with exit code 124
  --keep-going          when a rank dies, let the others run on
  --version, --help
Understood as well: -env NAME VALUE, -genv NAME VALUE, -wdir, -l; --oversubscribe and
--allow-run-as-root change nothing.

Standard input goes to rank 0. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP and
SIGCONT go to all ranks; the second SIGINT or SIGTERM kills them.
Exit code: 0 if every rank returned 0; else that of the first rank that failed (128 + signal if it
was killed); 124 after --timeout; 126 or 127 if a program cannot be run or found; 2 for a wrong
command line.
)";
}

}  // namespace headway::mpiexec
