#include "tools/headway/bench.hpp"

#include "tools/headway/shared_program.hpp"

namespace headway::tool {

int bench(std::vector<std::string> words) {
  words.insert(words.begin(), {"--ours", own_root().string()});
  return become_shared_program("bench", "bench/experiment", std::move(words));
}

}  // namespace headway::tool
