#pragma once

namespace CLI {
class App;
}

namespace headway::tool {

/// `headway info`: what this library is, sees and is set to. `status` becomes the exit status.
void add_info(CLI::App& app, int& status);

}  // namespace headway::tool
