#include "base/host_identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/log.hpp"
#include "base/result.hpp"

namespace headway::base {
namespace {

void say_unknown(const char* path, int error) {
  log(severity::warning, "{}: processes of this machine may not find each other",
      failed_errno(path, error).error().text);
}

std::string read_boot_id() {
  constexpr const char* path = "/proc/sys/kernel/random/boot_id";
  constexpr std::size_t characters = 36;
  std::array<char, characters> text{};
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  const auto got = file < 0 ? -1 : ::read(file, text.data(), text.size());
  const int error = got < 0 ? errno : EIO;
  if (file >= 0) ::close(file);
  if (got == characters) return {text.data(), text.size()};
  say_unknown(path, error);
  return {};
}

std::uint64_t read_namespace(const char* path) {
  struct stat about{};
  if (::stat(path, &about) == 0) return about.st_ino;
  say_unknown(path, errno);
  return 0;
}

}  // namespace

const std::string& boot_id() {
  static const std::string id = read_boot_id();
  return id;
}

std::uint64_t pid_namespace() {
  static const auto inode = read_namespace("/proc/self/ns/pid");
  return inode;
}

std::uint64_t network_namespace() {
  static const auto inode = read_namespace("/proc/self/ns/net");
  return inode;
}

}  // namespace headway::base
