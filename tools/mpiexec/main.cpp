#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>

#include "tools/mpiexec/hand_over.hpp"
#include "tools/mpiexec/job_runner.hpp"
#include "tools/mpiexec/options.hpp"
#include "tools/mpiexec/words.hpp"

namespace {

constexpr int exit_bad_command_line = 2, exit_trouble = 1;

/// Descriptors that open later must not take the places of the standard ones.
void occupy_standard_descriptors() {
  for (int descriptor = open("/dev/null", O_RDWR); descriptor >= 0;
       descriptor = open("/dev/null", O_RDWR)) {
    if (descriptor > STDERR_FILENO) {
      close(descriptor);
      return;
    }
  }
}

/// The processors that ranks may be bound to. Empty if no rank can be bound: reading takes a file
/// for each processor and level. A core has at most eight hardware threads.
headway::mpiexec::machine_places machine_of(const headway::mpiexec::options& wish) {
  using headway::mpiexec::machine_places;
  constexpr std::size_t most_threads = 8;
  const auto& placement = wish.placement;
  const auto allowed = machine_places::allowed_here();
  const auto ranks = static_cast<std::size_t>(std::max(wish.rank_count(), wish.ranks_per_host));
  const bool may_bind = placement.is_unspecified() && allowed.size() <= ranks * most_threads;
  if (!placement.binds() && placement.ranks_per_place == 0 && !may_bind) return {};
  return machine_places::read("/sys/devices/system/cpu", allowed);
}

int run(const std::vector<std::string>& arguments) {
  auto wish = headway::mpiexec::parse_options(arguments);
  if (!wish) {
    headway::mpiexec::say(wish.error().text);
    return exit_bad_command_line;
  }
  if (wish->help || wish->version) {
    std::fputs(
        wish->help ? headway::mpiexec::help_text() : "mpiexec (Headway) " HEADWAY_VERSION "\n",
        stdout);
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    return 0;
  }
  for (const auto& note : wish->notes) headway::mpiexec::say(note);
  if (!headway::mpiexec::all_here(wish->hosts)) return headway::mpiexec::hand_over(*wish, environ);
  const auto machine = machine_of(*wish);
  wish->settle_rank_counts(machine);
  // A job that another one has started shares the processors with that one's ranks.
  if (!std::getenv("HEADWAY_SPAWN_PORT"))
    wish->placement.choose_default(wish->rank_count(), machine);
  return headway::mpiexec::job_runner(*wish, machine, environ).run();
}

}  // namespace

int main(int count, char** words) {
  occupy_standard_descriptors();
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& error) {  // out of memory or threads, or help cannot be written
    headway::mpiexec::say(error.what());
    return exit_trouble;
  }
}
