#include "engine/page.hpp"

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
#include <utility>

#include "base/sequenced.hpp"

namespace headway::engine {
namespace {

constexpr const char* file_name = "headway-statistics-1";  // the number is the layout's version
constexpr std::size_t image_words = sizeof(page_image) / sizeof(std::uint64_t);
constexpr std::size_t page_bytes = sizeof(std::uint64_t) * (1 + image_words);
static_assert(sizeof(page_image) % sizeof(std::uint64_t) == 0);
constexpr int tries_max = 1000;

template <std::size_t size>
void copy_text(std::array<char, size>& into, std::string_view text) noexcept {
  const auto length = std::min(text.size(), size - 1);
  std::memcpy(into.data(), text.data(), length);
  into[length] = '\0';
}

/// Text from outside: it ends where the array does, if not before.
template <std::size_t size>
std::string_view text_in(const std::array<char, size>& from) noexcept {
  return {from.data(), strnlen(from.data(), size)};
}

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));

/// True if the image is whole. The other process is not trusted: counts are bounded.
bool copy_out(const std::atomic<std::uint64_t>* words, page_image& into) noexcept {
  std::array<std::uint64_t, image_words> copy{};
  if (!base::read_sequenced(words, copy.data(), image_words)) return false;
  std::memcpy(static_cast<void*>(&into), copy.data(), sizeof into);
  into.row_count = std::min<std::uint64_t>(into.row_count, page_image::rows_max);
  for (auto& row : into.rows) {
    row.cell_count = std::min<std::uint64_t>(row.cell_count, page_row::cells_max);
    row.kind.back() = row.name.back() = '\0';
    for (auto& cell : row.cells) cell.name.back() = '\0';
  }
  into.program.back() = '\0';
  return true;
}

base::result<page_image> read_from(int descriptor, pid_t process) {
  struct stat found{};
  if (fstat(descriptor, &found) != 0 || static_cast<std::size_t>(found.st_size) < page_bytes)
    return base::failed(base::fault_kind::system, "its statistics are cut short");
  void* const memory = mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return base::failed_errno("map its statistics", errno);
  page_image image;
  bool whole = false;
  for (int i = 0; i < tries_max && !whole; ++i) {
    whole = copy_out(static_cast<const std::atomic<std::uint64_t>*>(memory), image);
    if (!whole) usleep(100);
  }
  munmap(memory, page_bytes);
  if (!whole)
    return base::failed(base::fault_kind::system,
                        fmt::format("process {} does not finish writing", process));
  return image;
}

/// The open file of that process that is its page; empty if it has none.
std::filesystem::path page_of(pid_t process, std::error_code& fault) {
  const auto wanted = fmt::format("/memfd:{} (deleted)", file_name);
  for (const auto& one :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", process), fault)) {
    std::error_code gone;
    if (std::filesystem::read_symlink(one.path(), gone) == wanted) return one.path();
  }
  return {};
}

}  // namespace

void page_row::add(std::string_view cell, std::uint64_t value) noexcept {
  if (cell_count == cells_max) return;
  auto& made = cells[cell_count++];
  copy_text(made.name, cell);
  made.value = value;
}

std::uint64_t page_row::at(std::string_view cell) const noexcept {
  for (std::size_t i = 0; i < cell_count; ++i)
    if (text_in(cells[i].name) == cell) return cells[i].value;
  return 0;
}

page_row& page_image::add(std::string_view kind, std::string_view name) noexcept {
  static page_row nowhere;
  if (row_count == rows_max) {
    ++rows_left_out;
    nowhere.cell_count = page_row::cells_max;
    return nowhere;
  }
  auto& made = rows[row_count++];
  copy_text(made.kind, kind);
  copy_text(made.name, name);
  return made;
}

std::vector<const page_row*> page_image::of(std::string_view kind) const {
  std::vector<const page_row*> found;
  for (std::size_t i = 0; i < row_count; ++i)
    if (text_in(rows[i].kind) == kind) found.push_back(&rows[i]);
  return found;
}

base::result<page> page::make() {
  const int descriptor = memfd_create(file_name, MFD_CLOEXEC);
  if (descriptor < 0) return base::failed_errno("make the page of statistics", errno);
  void* memory = MAP_FAILED;
  if (ftruncate(descriptor, static_cast<off_t>(page_bytes)) == 0)
    memory = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    auto fault = base::failed_errno("map the page of statistics", errno);
    close(descriptor);
    return fault;
  }
  return page(descriptor, static_cast<word*>(memory));
}

page::page(page&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      words_(std::exchange(other.words_, nullptr)) {}

page::~page() {
  if (words_) munmap(words_, page_bytes);
  if (descriptor_ >= 0) close(descriptor_);
}

void page::write(const page_image& image) noexcept {
  std::array<std::uint64_t, image_words> copy;
  std::memcpy(copy.data(), &image, sizeof image);
  base::write_sequenced(words_, copy.data(), image_words);
}

base::result<page_image> read_page(pid_t process) {
  std::error_code fault;
  const auto path = page_of(process, fault);
  if (fault)
    return base::failed(base::fault_kind::system,
                        fmt::format("process {}: {}", process, fault.message()));
  if (path.empty())
    return base::failed(base::fault_kind::unsupported,
                        fmt::format("process {} shows no statistics: it runs without "
                                    "HEADWAY_STATS, or without Headway",
                                    process));
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return base::failed_errno(fmt::format("process {}", process), errno);
  auto image = read_from(descriptor, process);
  close(descriptor);
  if (image && image->pid != static_cast<std::uint64_t>(process))  // inherited by a fork
    return base::failed(base::fault_kind::unsupported,
                        fmt::format("process {} shows no statistics of its own", process));
  return image;
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
    if (!page_of(process, refused).empty()) found.push_back(process);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace headway::engine
