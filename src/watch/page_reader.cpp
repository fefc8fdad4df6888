// Reads the pages of other processes, for `headway top` and tests. Not in page.cpp, because the
// libraries that programs load do not need it.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/seqlock.hpp"
#include "watch/page.hpp"

namespace headway::watch {
namespace {

constexpr int tries_max = 1000;

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));

template <std::size_t size>
void make_text(std::array<char, size>& text) noexcept {
  constexpr char first = ' ', last = '~';  // of ASCII's printable characters
  text.back() = '\0';
  for (char& c : text)
    if (c != '\0' && (c < first || c > last)) c = '?';
}

/// Copies an image; false if a write was under way.
bool copy_out(const std::atomic<std::uint64_t>* words, page_image& into) noexcept {
  std::array<std::uint64_t, page_file::image_words> copy{};
  if (!base::seqlock_read(words, copy.data(), page_file::image_words)) return false;
  std::memcpy(static_cast<void*>(&into), copy.data(), sizeof into);
  make_safe(into);
  return true;
}

base::result<page_image> read_from(int descriptor, pid_t process) {
  struct stat found{};
  if (fstat(descriptor, &found) != 0 || static_cast<std::size_t>(found.st_size) < page_file::bytes)
    return base::failed(base::fault_kind::system, "its statistics are cut short");
  // An access behind the end of a file that was made shorter raises a signal.
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return base::failed(base::fault_kind::unsupported, "its statistics may be cut short");
  void* const memory = mmap(nullptr, page_file::bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return base::failed_errno("map its statistics", errno);
  page_image image;
  bool whole = false;
  for (int i = 0; i < tries_max && !whole; ++i) {
    whole = copy_out(static_cast<const std::atomic<std::uint64_t>*>(memory), image);
    if (!whole) usleep(100);
  }
  munmap(memory, page_file::bytes);
  if (!whole)
    return base::failed(base::fault_kind::system,
                        fmt::format("process {} does not finish writing", process));
  return image;
}

/// The paths of those open files of the process that are pages.
std::vector<std::filesystem::path> pages_of(pid_t process, std::error_code& fault) {
  const auto wanted = fmt::format("/memfd:{} (deleted)", page_file::name);
  std::vector<std::filesystem::path> found;
  for (const auto& one :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", process), fault)) {
    std::error_code gone;
    if (std::filesystem::read_symlink(one.path(), gone) == wanted) found.push_back(one.path());
  }
  return found;
}

/// The page in that file, if it is the process's own.
base::result<page_image> read_page(const std::filesystem::path& path, pid_t process) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return base::failed_errno(fmt::format("process {}", process), errno);
  auto image = read_from(descriptor, process);
  close(descriptor);
  if (image && image->pid != static_cast<std::uint64_t>(process))  // inherited by a fork
    return base::failed(base::fault_kind::unsupported,
                        fmt::format("process {} shows no statistics of its own", process));
  return image;
}

}  // namespace

void make_safe(page_image& image) noexcept {
  image.row_count = std::min<std::uint64_t>(image.row_count, page_image::rows_max);
  make_text(image.program);
  for (auto& row : image.rows) {
    row.cell_count = std::min<std::uint64_t>(row.cell_count, page_row::cells_max);
    make_text(row.kind);
    make_text(row.name);
    for (auto& cell : row.cells) make_text(cell.name);
  }
}

base::result<std::vector<page_image>> read_pages(pid_t process) {
  std::error_code fault;
  const auto paths = pages_of(process, fault);
  if (fault)
    return base::failed(base::fault_kind::system,
                        fmt::format("process {}: {}", process, fault.message()));
  if (paths.empty())
    return base::failed(base::fault_kind::unsupported,
                        fmt::format("process {} shows no statistics: it runs without "
                                    "HEADWAY_STATS, or without Headway",
                                    process));
  std::vector<page_image> images;
  std::optional<base::fault> why;
  for (const auto& path : paths) {
    auto image = read_page(path, process);
    if (image) images.push_back(*image);
    else why = std::move(image.error());
  }
  if (images.empty()) return std::unexpected(std::move(*why));
  return images;
}

std::vector<pid_t> processes_with_page() {
  std::vector<pid_t> found;
  std::error_code fault;
  for (const auto& one : std::filesystem::directory_iterator("/proc", fault)) {
    const auto name = one.path().filename().string();
    pid_t process = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (bad != std::errc{} || end != name.data() + name.size()) continue;
    std::error_code refused;
    if (!pages_of(process, refused).empty()) found.push_back(process);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace headway::watch
