#include "engine/node.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace headway::engine {

whereabouts whereabouts::own() {
  whereabouts here;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> here.kernel;
  if (here.kernel.empty()) {  // no /proc: the host's name has to do
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    here.kernel = name;
  }
  struct stat shm{};
  here.memory = stat("/dev/shm", &shm) == 0
                    ? fmt::format("{}/{}:{}", here.kernel, shm.st_dev, shm.st_ino)
                    : fmt::format("{}/{}", here.kernel, getpid());
  return here;
}

std::vector<int> number_by_equality(const std::vector<std::string>& texts) {
  std::vector<std::string> known;
  std::vector<int> numbers;
  numbers.reserve(texts.size());
  for (const auto& text : texts) {
    const auto found = std::ranges::find(known, text);
    numbers.push_back(static_cast<int>(found - known.begin()));
    if (found == known.end()) known.push_back(text);
  }
  return numbers;
}

}  // namespace headway::engine
