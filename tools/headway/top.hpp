#pragma once

namespace CLI {
class App;
}

namespace headway::tool {

/// `headway top`: what running processes count, live. They must run with HEADWAY_STATS.
/// `status` becomes the exit status.
void add_top(CLI::App& app, int& status);

}  // namespace headway::tool
