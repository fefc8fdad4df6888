#include "tools/headway/shared_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace headway::tool {

std::filesystem::path own_root() {
  std::error_code fault;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", fault);
  return self.parent_path().parent_path();
}

int become_shared_program(std::string_view subcommand, std::string_view path,
                          std::vector<std::string> words) {
  const auto program = own_root() / "share/headway" / path;
  if (!std::filesystem::exists(program)) {
    fmt::print(stderr, "headway: {}: {} is not there\n", subcommand, program.string());
    return 1;
  }
  words.insert(words.begin(), program.string());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  // The file exists, so what is missing is usually its interpreter.
  fmt::print(stderr, "headway: {}: cannot start {} with /usr/bin/python3: {}\n", subcommand,
             program.string(), std::strerror(errno));
  return 1;
}

}  // namespace headway::tool
