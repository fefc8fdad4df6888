// A page of statistics of any bytes, as `headway top` finds it in another process, among files that
// only look like pages: it is shown on a screen and as text, without commands to the terminal, and
// as JSON.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tools/headway/top_counts.hpp"
#include "tools/headway/top_view.hpp"
#include "watch/page.hpp"
#include "watch/statistics.hpp"

using headway::watch::page_image;

namespace {

constexpr std::array kinds{"queue",  "point",   "thread",  "rail",
                           "bundle", "windows", "overlap", "job"};

/// Most inputs are short: the first rows get kinds that are shown.
void name_kinds(page_image& image) {
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (image.rows[i].kind[0] == 0) std::strcpy(image.rows[i].kind.data(), kinds[i]);
}

bool printable(char c) noexcept { return c >= ' ' && c <= '~'; }

/// The screens that `headway top` makes of an image, and of what came before it in that process.
void check_screens(const page_image& image) {
  using namespace headway::tool;
  constexpr std::size_t width = 100, height = 30;
  rate_meter rates;
  top_view view;
  for (const std::uint64_t age : {1, 2}) {
    auto counts = counts_of(image, {1, 0});
    counts.written_ns = age;
    if (age == 1) counts.bytes_in /= 3;
    view.update(rates.look({counts}, age), {});
    for (const auto key : {command::none, command::open, command::leave}) {
      view.press(key);
      if (view.opened()) view.update_tables(image);
      for (const auto& line : view.draw(width, height))
        if (line.text.size() > width || !std::ranges::all_of(line.text, printable)) std::abort();
    }
  }
}

/// A file of that length which has the name of a page.
int false_page(std::size_t bytes, int seals) {
  const int made = memfd_create(headway::watch::page_file::name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0 || ftruncate(made, static_cast<off_t>(bytes)) != 0 ||
      fcntl(made, F_ADD_SEALS, seals) != 0)
    std::abort();
  return made;
}

/// What a reader finds in a process that has written this image, and has other files beside it.
std::unique_ptr<page_image> published(const page_image& written) {
  using headway::watch::page_file;
  static auto own = headway::watch::page::make().value();
  own.write(written);
  const auto bytes = written.row_count % 2 == 0 ? page_file::bytes : page_file::bytes / 2;
  const int beside = false_page(bytes, written.row_count % 3 == 0 ? F_SEAL_SHRINK : 0);
  const auto found = headway::watch::read_pages(getpid());
  close(beside);
  if (written.pid != static_cast<std::uint64_t>(getpid())) {  // those of a fork are not shown
    if (found) std::abort();
    return nullptr;
  }
  if (!found || found->size() != 1) std::abort();
  return std::make_unique<page_image>(found->front());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = std::make_unique<page_image>();
  const auto bytes = std::min(size, sizeof *image);
  if (bytes != 0) std::memcpy(static_cast<void*>(image.get()), data, bytes);
  name_kinds(*image);
  if (image->pid % 4 != 3) image->pid = static_cast<std::uint64_t>(getpid());
  const auto seen = published(*image);
  if (!seen) return 0;
  *image = *seen;
  for (const auto* kind : kinds)
    for (const auto* row : image->of(kind)) static_cast<void>(row->at("bytes_in"));
  for (const char c : headway::watch::statistics_text(*image))
    if (c != '\n' && !printable(c)) std::abort();
  check_screens(*image);
  const auto json = headway::watch::statistics_json(*image);
  if (std::ranges::any_of(json, [](char c) { return c >= 0 && c < ' '; })) std::abort();
  return 0;
}
