#include "base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace headway::base {
namespace {

/// Why another user may have written it; null: none could.
const char* others_of(const struct stat& of) noexcept {
  if (of.st_uid != geteuid() && of.st_uid != 0) return "belongs to another user";
  if ((of.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by others";
  return nullptr;
}

result<std::string> read_open(int fd, const std::string& name, std::size_t bytes_max) {
  struct stat is{};
  if (fstat(fd, &is) != 0) return failed_errno("stat " + name, errno);
  if (!S_ISREG(is.st_mode)) return failed(fault_kind::bad_input, "it is not a file");
  if (const auto* why = others_of(is))
    return failed(fault_kind::bad_input, fmt::format("it {}", why));
  std::string text(bytes_max + 1, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const auto got = ::read(fd, text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed_errno("read " + name, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace

std::string in_file_name(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || (c == '.' && !made.empty());
    made += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return made;
}

std::optional<std::string> read_whole_file(const std::filesystem::path& path,
                                           std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

result<std::optional<std::string>> read_trusted_file(const std::filesystem::path& path,
                                                     std::size_t bytes_max) {
  const auto name = path.string();
  // Not blocking: a FIFO of that name must not stop the start.
  const int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>();
  if (fd < 0) return failed_errno("open " + name, errno);
  auto text = read_open(fd, name, bytes_max);
  close(fd);
  if (!text) return std::unexpected(std::move(text).error());
  struct stat folder{};
  if (stat(path.parent_path().c_str(), &folder) != 0)
    return failed_errno("stat " + path.parent_path().string(), errno);
  if (const auto* why = others_of(folder))
    return failed(fault_kind::bad_input, fmt::format("its folder {}", why));
  return std::optional(*std::move(text));
}

result<> write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed_errno("write", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

result<> replace_file(const std::filesystem::path& path, std::string_view text) {
  const auto folder = path.parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  // Not by the user's mask, which may let a group write.
  if (!error && mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    error = std::error_code(errno, std::generic_category());
  if (error) return failed_errno("create " + folder.string(), error.value());
  auto beside = path.string() + ".XXXXXX";
  const int fd = mkostemp(beside.data(), O_CLOEXEC);
  if (fd < 0) return failed_errno("create " + beside, errno);
  auto done = write_all(fd, text);
  if (!done) done.error().text = fmt::format("{}: {}", beside, done.error().text);
  if (done && fsync(fd) != 0) done = failed_errno("fsync " + beside, errno);
  close(fd);
  if (done && rename(beside.c_str(), path.c_str()) != 0)
    done = failed_errno("rename " + beside, errno);
  if (!done) unlink(beside.c_str());
  return done;
}

}  // namespace headway::base
