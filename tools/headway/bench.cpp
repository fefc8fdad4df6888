#include "tools/headway/bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace headway::tool {
namespace {

/// The folder above bin, of a build or of an installation; both look alike.
std::filesystem::path own_root() {
  std::error_code fault;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", fault);
  return self.parent_path().parent_path();
}

}  // namespace

int bench(std::vector<std::string> words) {
  const auto root = own_root();
  const auto program = root / "share/headway/bench/experiment";
  if (!std::filesystem::exists(program)) {
    fmt::print(stderr, "headway: bench: {} is not there\n", program.string());
    return 1;
  }
  words.insert(words.begin(), {program.string(), "--ours", root.string()});
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  // The file exists, so what is missing is usually its interpreter.
  fmt::print(stderr, "headway: bench: cannot start {} with /usr/bin/python3: {}\n",
             program.string(), std::strerror(errno));
  return 1;
}

}  // namespace headway::tool
