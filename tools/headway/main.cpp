#include <CLI/CLI.hpp>

#include "tools/headway/bench.hpp"
#include "tools/headway/info.hpp"
#include "tools/headway/sample.hpp"
#include "tools/headway/top.hpp"

/// One command with a subcommand per task; each lives in a file of its own.
int main(int argc, char** argv) {
  CLI::App app{"Headway: MPI whose messages make headway while the program computes", "headway"};
  app.set_version_flag("--version", "headway " HEADWAY_VERSION);
  app.require_subcommand(1);
  int status = 0;
  headway::tool::add_info(app, status);
  headway::tool::add_sample(app, status);
  headway::tool::add_top(app, status);
  headway::tool::add_bench(app, status);
  CLI11_PARSE(app, argc, argv);
  return status;
}
