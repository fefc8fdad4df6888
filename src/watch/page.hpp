#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway::watch {

/// One named number of a row. The name contains the unit: "bytes_in", "busy_ns", "per_frame_milli".
struct page_cell {
  std::array<char, 16> name{};
  std::uint64_t value = 0;
};

/// One line of the statistics: kind and name of an object, and its counters.
struct page_row {
  static constexpr std::size_t cells_max = 10;
  static constexpr std::size_t name_max = 28;
  /// "queue", "point", "thread", "rail", "bundle", "windows", "overlap"
  std::array<char, 12> kind{};
  std::array<char, name_max> name{};
  std::uint64_t cell_count = 0;
  std::array<page_cell, cells_max> cells{};

  void add(std::string_view cell, std::uint64_t value) noexcept;
  [[nodiscard]] std::uint64_t at(std::string_view cell) const noexcept;  ///< 0 without such a cell
};

/// All counters that a process publishes, at one moment. The rows carry their names, so that a
/// reader of another version can show them.
/// Shape:    fixed; words of 8 bytes; rows beyond `rows_max` are left out and counted.
struct page_image {
  static constexpr std::size_t rows_max = 160;
  std::uint64_t pid = 0, rank = 0, size = 0;   ///< size 0: the process belongs to no job
  std::uint64_t began_ns = 0, written_ns = 0;  ///< on the clock of the engine
  std::uint64_t row_count = 0, rows_left_out = 0;
  std::array<char, 32> program{};
  std::array<page_row, rows_max> rows{};

  /// The new row; a row that is discarded when `rows_max` is reached.
  page_row& add(std::string_view kind, std::string_view name) noexcept;
  [[nodiscard]] std::vector<const page_row*> of(std::string_view kind) const;
};

/// The layout of a page as other processes read it: a seqlock (base/seqlock.hpp) in an anonymous
/// file.
struct page_file {
  static constexpr const char* name = "headway-statistics-3";  // the number is the layout's version
  static constexpr std::size_t image_words = sizeof(page_image) / sizeof(std::uint64_t);
  static constexpr std::size_t bytes = sizeof(std::uint64_t) * (1 + image_words);
  static_assert(sizeof(page_image) % sizeof(std::uint64_t) == 0);
};

/// Publishes a page_image to other processes of the same user, in an anonymous file (memfd) that
/// they map. A reader finds it among the process's open files, and it vanishes with the process
/// however that ends. The file is sealed: it cannot be made shorter while a reader has it mapped.
/// Shape:    a sequence number, then the words of a page_image.
/// Threads:  one writes; any thread of any process reads, see base/seqlock.hpp.
/// Progress: `write` never waits; a reader repeats while a write is under way.
class page {
 public:
  [[nodiscard]] static base::result<page> make();
  page(page&& other) noexcept;
  page& operator=(page&&) = delete;
  ~page();

  void write(const page_image& image) noexcept;

 private:
  using word = std::atomic<std::uint64_t>;
  page(int descriptor, word* words) noexcept : descriptor_(descriptor), words_(words) {}
  int descriptor_;
  word* words_;
};

/// Makes what another process has written safe to show: counts are bounded, texts end, and what a
/// terminal would take for a command is '?'.
void make_safe(page_image& image) noexcept;

/// The pages of a process: one for each copy of the library in it, at least one.
/// Errors:   `unsupported` when it publishes nothing, `system` when it does not exist or may not be
///           read.
[[nodiscard]] base::result<std::vector<page_image>> read_pages(pid_t process);
/// Every process with a page that the caller may read, in the order of the process numbers.
[[nodiscard]] std::vector<pid_t> processes_with_page();

}  // namespace headway::watch
