#include "tools/headway/info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/misspelt_settings.hpp"
#include "runtime/tuned.hpp"
#include "tools/headway/facts.hpp"
#include "tools/headway/wrapped.hpp"

namespace headway::tool {

namespace {

/// The columns of the terminal; 0 where there is none.
std::size_t columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// The tunables that --changed leaves, or a line if it leaves none.
std::string changed_text(const facts& found, const info_options& wanted) {
  if (!found.tunables.empty()) return tunables_text(found, columns());
  if (wanted.words.empty()) return wrapped("no tunable differs from its default", 0, columns());
  return wrapped(fmt::format("no tunable with these words differs from its default: {}",
                             fmt::join(wanted.words, " ")),
                 0, columns());
}

/// The tables that the words and --changed leave; an empty table only if it is asked for.
std::string chosen_text(const facts& found, const info_options& wanted) {
  std::string text;
  const bool both = wanted.tunables == wanted.mpi && !wanted.changed;
  if (wanted.changed) text += changed_text(found, wanted);
  else if ((both && !found.tunables.empty()) || wanted.tunables)
    text += tunables_text(found, columns());
  if ((both && !found.functions.empty()) || wanted.mpi) text += functions_text(found, columns());
  return text;
}

int collectives_info() {
  const auto chosen = runtime::settings::from_environment();
  const auto machine = topology::machine::read(chosen.topology);
  if (!machine) {
    fmt::print(stderr, "headway: info: {}\n", machine.error().text);
    return 1;
  }
  fmt::print("{}", rules_text(collective_rules(runtime::find_tuned(chosen, **machine)), columns()));
  return 0;
}

}  // namespace

int info(const info_options& wanted) {
  base::report_misspelt_settings();
  if (wanted.collectives && !wanted.json) return collectives_info();
  const bool part = wanted.mpi || wanted.tunables || wanted.changed || !wanted.words.empty();
  auto found = gather(wanted.json || !part);
  if (!found) {
    fmt::print(stderr, "headway: info: {}\n", found.error().text);
    return 1;
  }
  keep_matching(*found, wanted.words);
  if (!wanted.words.empty() && found->tunables.empty() && found->functions.empty()) {
    fmt::print(stderr, "headway: info: no tunable and no function has these words: {}\n",
               fmt::join(wanted.words, " "));
    return 1;
  }
  if (wanted.changed) keep_changed(*found);
  if (wanted.json) fmt::print("{}", json_text(*found));
  else if (part) fmt::print("{}", chosen_text(*found, wanted));
  else fmt::print("{}{}", overview_text(*found, columns()), tunables_text(*found, columns()));
  return 0;
}

}  // namespace headway::tool
