#include "tools/headway/shared_program.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

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

int run_shared_program(std::string_view subcommand, std::string_view path,
                       std::vector<std::string> words, std::string_view input) {
  const int text = memfd_create("input", MFD_CLOEXEC);  // a pipe might fill before it is read
  if (text < 0 || write(text, input.data(), input.size()) != static_cast<ssize_t>(input.size()) ||
      lseek(text, 0, SEEK_SET) != 0) {
    fmt::print(stderr, "headway: {}: no memory for its input: {}\n", subcommand,
               std::strerror(errno));
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) {
    if (dup2(text, STDIN_FILENO) < 0) _exit(1);
    _exit(become_shared_program(subcommand, path, std::move(words)));
  }
  close(text);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    fmt::print(stderr, "headway: {}: no process for {}: {}\n", subcommand, path,
               std::strerror(errno));
    return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace headway::tool
