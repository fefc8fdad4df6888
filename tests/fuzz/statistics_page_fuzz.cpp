// A page of statistics of any bytes, as `headway top` finds it in another process: it is shown on a
// screen and as text, without commands to the terminal, and as JSON.

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = std::make_unique<page_image>();
  const auto bytes = std::min(size, sizeof *image);
  if (bytes != 0) std::memcpy(static_cast<void*>(image.get()), data, bytes);
  name_kinds(*image);
  headway::watch::make_safe(*image);
  for (const auto* kind : kinds)
    for (const auto* row : image->of(kind)) static_cast<void>(row->at("bytes_in"));
  for (const char c : headway::watch::statistics_text(*image))
    if (c != '\n' && !printable(c)) std::abort();
  check_screens(*image);
  const auto json = headway::watch::statistics_json(*image);
  if (std::ranges::any_of(json, [](char c) { return c >= 0 && c < ' ' && c != '\n'; }))
    std::abort();
  return 0;
}
