#include "tools/headway/start_ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace headway::tool {

int start_ranks(int ranks, std::string_view command, const std::vector<std::string>& options) {
  std::error_code fault;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", fault);
  const auto mpiexec = (self.parent_path() / "mpiexec").string();
  std::vector<std::string> all{mpiexec, "-n", fmt::format("{}", ranks), self.string(),
                               std::string(command)};
  all.insert(all.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (auto& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(mpiexec.c_str(), arguments.data());
  fmt::print(stderr, "headway: {}: cannot start {}: {}\n", command, mpiexec, std::strerror(errno));
  return 1;
}

}  // namespace headway::tool
