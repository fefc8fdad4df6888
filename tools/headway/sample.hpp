#pragma once

namespace CLI {
class App;
}

namespace headway::tool {

/// `headway sample`: measures the rails between two ranks. `status` becomes the exit status.
void add_sample(CLI::App& app, int& status);

}  // namespace headway::tool
