#include "tools/headway/info.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "tools/headway/facts.hpp"

namespace headway::tool {
namespace {

struct choices {
  bool mpi = false;
  bool tunables = false;
  bool json = false;
};

int info(const choices& wanted) {
  const auto found = gather(wanted.json || (!wanted.mpi && !wanted.tunables));
  if (!found) {
    fmt::print(stderr, "headway: info: {}\n", found.error().text);
    return 1;
  }
  std::string text;
  if (wanted.json) {
    text = json_text(*found);
  } else {
    if (wanted.tunables) text += tunables_text(*found);
    if (wanted.mpi) text += functions_text(*found);
    if (!wanted.tunables && !wanted.mpi) text = overview_text(*found) + tunables_text(*found);
  }
  fmt::print("{}", text);
  return 0;
}

}  // namespace

void add_info(CLI::App& app, int& status) {
  const auto wanted = std::make_shared<choices>();
  auto* command = app.add_subcommand("info", "Version, machine, rails, tunables, MPI functions");
  command->add_flag("--mpi", wanted->mpi, "only the MPI functions: which work, which do not");
  command->add_flag("--tunables", wanted->tunables, "only the tunables");
  command->add_flag("--json", wanted->json, "everything, as one JSON object");
  command->callback([wanted, &status] { status = info(*wanted); });
}

}  // namespace headway::tool
