#include "files/open_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace headway::files {
namespace {

/// The kernel moves no more in one call.
constexpr std::int64_t call_bytes_max = std::int64_t{1} << 30;

/// Repeats `call(done, bytes)`, which is pread or pwrite, until all is moved, nothing was, or it
/// has failed.
template <class Call>
[[nodiscard]] moved repeat(std::int64_t bytes, Call&& call) noexcept {
  moved all;
  while (all.bytes < bytes) {
    const auto count = call(all.bytes, std::min(bytes - all.bytes, call_bytes_max));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) all.error = errno;
    if (count <= 0) break;
    all.bytes += count;
  }
  return all;
}

[[nodiscard]] int error_of(int result) noexcept { return result == 0 ? 0 : errno; }

[[nodiscard]] int change_lock(int descriptor, short type, std::int64_t begin,
                              std::int64_t end) noexcept {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = end - begin;
  while (::fcntl(descriptor, F_OFD_SETLKW, &range) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

std::expected<open_file, int> open_file::open(const char* path, int flags) noexcept {
  constexpr mode_t readable_and_writable = 0666;  // less what the user's mask forbids
  const int descriptor = ::open(path, flags | O_CLOEXEC, readable_and_writable);
  if (descriptor < 0) return std::unexpected(errno);
  open_file made(descriptor);
  struct stat facts{};
  if (::fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode)) return std::unexpected(EISDIR);
  return made;
}

int open_file::close() noexcept {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor < 0 ? 0 : error_of(::close(descriptor));
}

moved open_file::read(std::byte* to, std::int64_t bytes, std::int64_t offset) const noexcept {
  return repeat(bytes, [&](std::int64_t done, std::int64_t next) {
    return ::pread(descriptor_, to + done, static_cast<std::size_t>(next), offset + done);
  });
}

moved open_file::write(const std::byte* from, std::int64_t bytes,
                       std::int64_t offset) const noexcept {
  auto all = repeat(bytes, [&](std::int64_t done, std::int64_t next) {
    return ::pwrite(descriptor_, from + done, static_cast<std::size_t>(next), offset + done);
  });
  if (all.bytes < bytes && all.error == 0) all.error = EIO;
  return all;
}

std::expected<std::int64_t, int> open_file::size() const noexcept {
  struct stat facts{};
  if (::fstat(descriptor_, &facts) != 0) return std::unexpected(errno);
  return facts.st_size;
}

int open_file::set_size(std::int64_t bytes) const noexcept {
  return error_of(::ftruncate(descriptor_, bytes));
}

int open_file::allocate(std::int64_t bytes) const noexcept {
  return bytes == 0 ? 0 : ::posix_fallocate(descriptor_, 0, bytes);
}

int open_file::sync() const noexcept { return error_of(::fsync(descriptor_)); }

int open_file::lock(lock_kind kind, std::int64_t begin, std::int64_t end) const noexcept {
  const short type = kind == lock_kind::shared ? F_RDLCK : F_WRLCK;
  return change_lock(descriptor_, type, begin, end);
}

int open_file::unlock(std::int64_t begin, std::int64_t end) const noexcept {
  return change_lock(descriptor_, F_UNLCK, begin, end);
}

}  // namespace headway::files
