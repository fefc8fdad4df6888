#include "windows/node_block.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>

#include "base/assert.hpp"
#include "base/file_size_errors.hpp"

namespace headway::windows {
namespace {

struct open_file {
  int fd;
  ~open_file() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

node_block::~node_block() {
  if (at_ != nullptr) ::munmap(at_, bytes_);
}

// A mapping begins at a page. One that shall begin at a multiple of more replaces a part of a
// longer one, whose other parts go.
base::result<node_block> node_block::map(int fd, std::size_t bytes, int flags,
                                         std::size_t alignment) {
  HEADWAY_ASSERT(std::has_single_bit(alignment));
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto length = (bytes + page - 1) / page * page;
  std::byte *whole = nullptr, *wanted = nullptr;
  if (alignment > page) {
    void* const room = ::mmap(nullptr, length + alignment, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
      return base::failed_errno(fmt::format("mmap of {} bytes for a window", bytes), errno);
    whole = static_cast<std::byte*>(room);
    wanted = whole + (-reinterpret_cast<std::uintptr_t>(whole) & (alignment - 1));
    flags |= MAP_FIXED;
  }
  void* const at = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  const int error = errno;
  if (whole != nullptr && at == MAP_FAILED) {
    ::munmap(whole, length + alignment);
  } else if (whole != nullptr) {
    if (wanted != whole) ::munmap(whole, static_cast<std::size_t>(wanted - whole));
    std::byte* const end = wanted + length;
    ::munmap(end, static_cast<std::size_t>(whole + length + alignment - end));
  }
  if (at == MAP_FAILED)
    return base::failed_errno(fmt::format("mmap of {} bytes for a window", bytes), error);
  return node_block(static_cast<std::byte*>(at), bytes);
}

base::result<node_block> node_block::create(const std::string& path, std::size_t bytes,
                                            std::size_t reserved, std::size_t alignment) {
  HEADWAY_ASSERT(reserved <= bytes);
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  open_file file{::open(path.c_str(), flags, 0600)};
  if (file.fd < 0 && errno == EEXIST) {  // of an earlier window, if the kernel refused to remove it
    unlink(path);
    file.fd = ::open(path.c_str(), flags, 0600);
  }
  if (file.fd < 0) return base::failed_errno("open " + path, errno);
  const base::file_size_errors meanwhile;
  int error;
  do {
    error = ::posix_fallocate(file.fd, 0, static_cast<off_t>(reserved));
  } while (error == EINTR);
  if (error == 0 && ::ftruncate(file.fd, static_cast<off_t>(bytes)) != 0) error = errno;
  auto made = error == 0 ? map(file.fd, bytes, MAP_SHARED, alignment)
                         : base::failed_errno(
                               fmt::format("{} bytes of {} for a window", bytes, path), error);
  if (!made) unlink(path);
  return made;
}

base::result<node_block> node_block::open(const std::string& path, std::size_t bytes,
                                          std::size_t alignment) {
  const open_file file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (file.fd < 0) return base::failed_errno("open " + path, errno);
  struct stat about{};
  if (::fstat(file.fd, &about) != 0) return base::failed_errno("fstat of " + path, errno);
  if (static_cast<std::size_t>(about.st_size) != bytes)
    return base::failed(base::fault_kind::bad_input,
                        fmt::format("{} is not the memory of a window", path));
  return map(file.fd, bytes, MAP_SHARED, alignment);
}

bool node_block::reserve(std::byte* begin, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  return ::madvise(begin, bytes, MADV_POPULATE_WRITE) == 0;
#else
  static_cast<void>(begin);
  return bytes == 0;
#endif
}

void node_block::unlink(const std::string& path) noexcept { ::unlink(path.c_str()); }

base::result<node_block> node_block::own(std::size_t bytes, std::size_t alignment) {
  return map(-1, bytes, MAP_PRIVATE | MAP_ANONYMOUS, alignment);
}

}  // namespace headway::windows
