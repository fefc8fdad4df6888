#include "watch/page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/file_size_errors.hpp"
#include "base/seqlock.hpp"

namespace headway::watch {
namespace {

template <std::size_t size>
void copy_text(std::array<char, size>& into, std::string_view text) noexcept {
  const auto length = std::min(text.size(), size - 1);
  std::memcpy(into.data(), text.data(), length);
  into[length] = '\0';
}

/// The text in an array of another process: not trusted to end with a zero.
template <std::size_t size>
std::string_view text_in(const std::array<char, size>& from) noexcept {
  return {from.data(), strnlen(from.data(), size)};
}

}  // namespace

void page_row::add(std::string_view cell, std::uint64_t value) noexcept {
  HEADWAY_ASSERT(!cell.empty() && cell.size() < page_cell{}.name.size());  // it is not cut
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
  HEADWAY_ASSERT(!kind.empty() && kind.size() < page_row{}.kind.size());
  thread_local page_row discarded;
  if (row_count == rows_max) {
    ++rows_left_out;
    discarded.cell_count = page_row::cells_max;
    return discarded;
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
  const int descriptor = memfd_create(page_file::name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return base::failed_errno("make the page of statistics", errno);
  const base::file_size_errors meanwhile;
  void* memory = MAP_FAILED;
  if (ftruncate(descriptor, static_cast<off_t>(page_file::bytes)) == 0 &&
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
    memory = mmap(nullptr, page_file::bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
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
  if (words_) munmap(words_, page_file::bytes);
  if (descriptor_ >= 0) close(descriptor_);
}

void page::write(const page_image& image) noexcept {
  HEADWAY_ASSERT(words_ != nullptr);  // not moved from
  std::array<std::uint64_t, page_file::image_words> copy;
  std::memcpy(copy.data(), &image, sizeof image);
  base::seqlock_write(words_, copy.data(), page_file::image_words);
}

}  // namespace headway::watch
