#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

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

int run(const std::vector<std::string>& arguments) {
  const auto wish = headway::mpiexec::parse_options(arguments);
  if (!wish) {
    headway::mpiexec::say(wish.error().text);
    return exit_bad_command_line;
  }
  if (wish->help || wish->version) {
    std::fputs(
        wish->help ? headway::mpiexec::help_text() : "mpiexec (Headway) " HEADWAY_VERSION "\n",
        stdout);
    return 0;
  }
  return headway::mpiexec::job_runner(*wish, environ).run();
}

}  // namespace

int main(int count, char** words) {
  occupy_standard_descriptors();
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& error) {  // out of memory or threads
    headway::mpiexec::say(error.what());
    return exit_trouble;
  }
}
