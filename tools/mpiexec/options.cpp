#include "tools/mpiexec/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <ranges>
#include <string_view>

#include "tools/mpiexec/config_file.hpp"
#include "tools/mpiexec/option_table.hpp"

namespace headway::mpiexec {
namespace {

using base::failed;
using base::fault_kind;

std::unexpected<base::fault> wrong(std::string text) {
  return failed(fault_kind::bad_input, std::move(text));
}

/// Adds the place of the rank to the name of --output-filename.
std::string pattern_of_name(std::string_view name) {
  std::string pattern;
  for (const char c : name) pattern += c == '%' ? std::string("%%") : std::string(1, c);
  return pattern + ".%r";
}

/// Walks over the words of the command line and fills the options.
class parser {
 public:
  explicit parser(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  base::result<options> parse() {
    while (!made_.help && !made_.version) {
      if (auto done = parse_block(); !done) return std::unexpected(done.error());
      if (at_ == arguments_.size()) break;
      ++at_;  // the ':'
    }
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
    const auto* row = find_option(name_);
    if (!row) return wrong(unknown());
    if (row->id == option_id::instead)
      return wrong(fmt::format("{} is not understood; write: {}", name_, row->instead));
    if (value_ && is_flag(row->id)) return wrong(fmt::format("{} takes no value", name_));
    if (is_flag(row->id)) return apply_flag(row->id);
    return apply(row->id, block);
  }

  std::string unknown() const {
    const auto near = nearest_option(name_);
    if (near.empty()) return fmt::format("unknown option {} (mpiexec --help)", name_);
    const auto* row = find_option(near);
    if (row->id != option_id::instead)
      return fmt::format("unknown option {}: did you mean {}?", name_, near);
    return fmt::format("unknown option {}; instead of {}, write: {}", name_, near, row->instead);
  }

  static bool is_flag(option_id id) {
    using enum option_id;
    return id == label || id == keep_going || id == verbose || id == report_bindings ||
           id == version || id == help || id == nothing || id == one_per_host ||
           id == bind_to_named || id == map_by_named || id == for_hydra || id == for_prterun;
  }

  base::result<> apply_flag(option_id id) {
    switch (id) {
      case option_id::label:
        made_.label = true;
        break;
      case option_id::keep_going:
        made_.keep_going = true;
        break;
      case option_id::verbose:
        made_.verbose = true;
        break;
      case option_id::report_bindings:
        made_.report_bindings = true;
        break;
      case option_id::version:
        made_.version = true;
        break;
      case option_id::help:
        made_.help = true;
        break;
      case option_id::one_per_host:
        made_.ranks_per_host = 1;
        break;
      case option_id::bind_to_named:  // the level is what follows the last '-'
        return made_.placement.take_bind(name_.substr(name_.rfind('-') + 1));
      case option_id::map_by_named:
        return made_.placement.take_map(name_.substr(name_.rfind("by") + 2));
      case option_id::for_hydra:
        made_.for_hydra.push_back(name_);
        break;
      case option_id::for_prterun:
        made_.for_prterun.push_back(name_);
        break;
      default:  // option_id::nothing
        break;
    }
    return {};
  }

  base::result<> apply(option_id id, program_block& block) {
    switch (id) {
      case option_id::rank_count:
        return take_number(block.rank_count.emplace(), "ranks");
      case option_id::environment_pair:
        return take_environment(block.environment);
      case option_id::environment_for_all:
        return take_environment(made_.environment);
      case option_id::exported:
        return take_exported();
      case option_id::directory:
        return take_text(block.directory, "a directory");
      case option_id::config_file:
        return take_config_file();
      case option_id::timeout:
        return take_timeout();
      case option_id::report:
        return take_report();
      case option_id::ranks_per_host:
        return take_number(made_.ranks_per_host, "ranks");
      case option_id::hosts:
      case option_id::host_file:
        return take_hosts(id == option_id::host_file);
      case option_id::bind_to:
      case option_id::map_by:
      case option_id::ranks_per_socket:
        return take_placement(id);
      default:
        return apply_stream(id);
    }
  }

  /// Options about input and output, and those of other launchers.
  base::result<> apply_stream(option_id id) {
    std::string text;
    switch (id) {
      case option_id::input:
        return take_ranks(made_.input);
      case option_id::debugger:
        made_.debugged = rank_set::all();
        return value_ ? take_ranks(*made_.debugged) : base::result<>();
      case option_id::output_pattern:
        return take_text(made_.output_pattern, "a file");
      case option_id::error_pattern:
        return take_text(made_.error_pattern, "a file");
      case option_id::output_file_name:
        if (auto done = take_text(text, "a file"); !done) return done;
        made_.output_pattern = made_.error_pattern = pattern_of_name(text);
        return {};
      case option_id::output_style:
        return take_output_style();
      case option_id::display:
        return take_display();
      case option_id::components:
        return take_components();
      default:  // option_id::for_hydra_value
        if (auto done = take_text(text, "a value"); !done) return done;
        made_.for_hydra.insert(made_.for_hydra.end(), {name_, text});
        return {};
    }
  }

  base::result<> take_text(std::string& into, std::string_view wanted) {
    if (!value_ && at_ < arguments_.size()) value_ = arguments_[at_++];
    if (!value_ || value_->empty()) return wrong(fmt::format("{} wants {}", name_, wanted));
    into = *value_;
    return {};
  }

  base::result<> take_number(int& into, std::string_view what) {
    std::string text;
    if (auto done = take_text(text, fmt::format("a number of {}", what)); !done) return done;
    const auto end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, into);
    if (error != std::errc{} || at != end || into < 1 || into > rank_count_max)
      return wrong(
          fmt::format("{} {}: not a number of {} (1 … {})", name_, text, what, rank_count_max));
    return {};
  }

  base::result<> take_ranks(rank_set& into) {
    std::string text;
    if (auto done = take_text(text, "ranks"); !done) return done;
    const auto ranks = rank_set::parse(text);
    if (!ranks) return wrong(fmt::format("{} {}: not ranks (all, none, 0,2-4)", name_, text));
    into = *ranks;
    return {};
  }

  /// NAME=VALUE, or NAME VALUE as Hydra has it; behind --env only the first.
  base::result<> take_environment(variables& into) {
    std::string text;
    if (auto done = take_text(text, "NAME=VALUE"); !done) return done;
    const auto equals = text.find('=');
    if (equals != text.npos && equals > 0) {
      into.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    } else if (equals == text.npos && name_ != "--env" && at_ < arguments_.size()) {
      into.emplace_back(text, arguments_[at_++]);
    } else {
      return wrong(fmt::format("{} {}: not NAME=VALUE", name_, text));
    }
    return {};
  }

  base::result<> take_report() {
    std::string file;
    if (auto done = take_text(file, "a file"); !done) return done;
    made_.environment.emplace_back("HEADWAY_REPORT", std::filesystem::absolute(file).string());
    return {};
  }

  base::result<> take_exported() {
    std::string text;
    if (auto done = take_text(text, "NAME or NAME=VALUE"); !done) return done;
    const auto equals = text.find('=');
    if (equals == 0) return wrong(fmt::format("{} {}: not NAME=VALUE", name_, text));
    if (equals == text.npos) made_.exported.push_back(text);
    else made_.environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    return {};
  }

  base::result<> take_config_file() {
    std::string path;
    if (auto done = take_text(path, "a file"); !done) return done;
    if (in_config_file_) return wrong(fmt::format("{} in a file of {}", name_, name_));
    in_config_file_ = true;
    const auto words = words_of_config_file(path);
    if (!words) return std::unexpected(words.error());
    arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(at_), words->begin(),
                      words->end());
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

  base::result<> take_hosts(bool file) {
    std::string text;
    if (auto done = take_text(text, file ? "a file" : "hosts"); !done) return done;
    auto found = file ? hosts_of_file(text) : hosts_of_list(text);
    if (!found) return wrong(fmt::format("{}: {}", name_, found.error().text));
    made_.hosts.insert(made_.hosts.end(), found->begin(), found->end());
    return {};
  }

  base::result<> take_placement(option_id id) {
    std::string text;
    if (auto done = take_text(text, id == option_id::ranks_per_socket ? "a number" : "a level");
        !done)
      return done;
    const auto done = id == option_id::bind_to ? made_.placement.take_bind(text)
                      : id == option_id::map_by
                          ? made_.placement.take_map(text)
                          : made_.placement.take_map("ppr:" + text + ":socket");
    if (!done) return wrong(fmt::format("{} {}", name_, done.error().text));
    auto& placement = made_.placement;
    if (placement.map == place_level::node && placement.ranks_per_place > 0) {  // ppr:N:node
      made_.ranks_per_host = std::exchange(placement.ranks_per_place, 0);
      placement.map_text.clear();
    }
    return {};
  }

  /// Calls `take` for each part of a value that is a list with commas.
  template <class Take>
  base::result<> take_parts(std::string_view accepted, Take take) {
    std::string text;
    if (auto done = take_text(text, accepted); !done) return done;
    for (const auto part : text | std::views::split(','))
      if (const std::string_view one(part); !take(one))
        return wrong(fmt::format("{} {} is not understood; write: {}", name_, one, accepted));
    return {};
  }

  /// Open MPI's --output: "tag", "file=NAME", several after commas.
  base::result<> take_output_style() {
    return take_parts("tag or file=NAME", [&](std::string_view part) {
      if (part == "tag" || part == "tag-fullname" || part == "rank") return made_.label = true;
      if (!part.starts_with("file=") || part.size() == 5) return false;
      made_.output_pattern = made_.error_pattern = pattern_of_name(part.substr(5));
      return true;
    });
  }

  /// Open MPI's --display: "bind,map", "allocation".
  base::result<> take_display() {
    return take_parts("bind, map or allocation", [&](std::string_view part) {
      if (part == "allocation") return made_.verbose = true;
      if (part == "bind" || part.starts_with("map")) return made_.report_bindings = true;
      return false;
    });
  }

  base::result<> take_components() {
    std::string name;
    if (auto done = take_text(name, "a name and a value"); !done) return done;
    if (at_ >= arguments_.size()) return wrong(fmt::format("{} {} wants a value", name_, name));
    made_.notes.push_back(fmt::format(
        "{} {} {} has no effect: it is about Open MPI's inside (settings of Headway: headway info)",
        name_, name, arguments_[at_++]));
    return {};
  }

  std::vector<std::string> arguments_;
  std::size_t at_ = 0;
  std::string name_;                  ///< of the option at hand
  std::optional<std::string> value_;  ///< what stood behind its '='
  bool in_config_file_ = false;       ///< the words of one were inserted
  options made_;
};

}  // namespace

int options::rank_count() const noexcept {
  std::int64_t sum = 0;
  for (const auto& block : blocks) sum += block.rank_count.value_or(1);
  return static_cast<int>(std::min<std::int64_t>(sum, rank_count_max + 1));
}

void options::settle_rank_counts(const machine_places& machine) {
  const int wanted = ranks_per_host > 0              ? ranks_per_host
                     : placement.ranks_per_place > 0 ? machine.ranks_wanted(placement)
                                                     : 1;
  for (auto& block : blocks) block.rank_count = block.rank_count.value_or(wanted);
}

base::result<options> parse_options(std::vector<std::string> arguments) {
  auto made = parser(std::move(arguments)).parse();
  if (made && made->rank_count() > rank_count_max)
    return wrong(fmt::format("more than {} ranks", rank_count_max));
  return made;
}

}  // namespace headway::mpiexec
