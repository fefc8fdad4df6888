#pragma once

namespace CLI {
class App;
}

namespace headway::tool {

/// Adds the subcommand `bench`: the experiments of the papers. It hands over to the Python program
/// that lies beside the command, in ../share/headway/bench.
/// Errors:   one line and status 1 in `status` when that cannot be started.
void add_bench(CLI::App& app, int& status);

}  // namespace headway::tool
