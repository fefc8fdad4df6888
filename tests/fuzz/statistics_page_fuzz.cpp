// A page of statistics of any bytes, as `headway top` finds it in another process: it is shown as
// text, without commands to the terminal, and as JSON.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "watch/page.hpp"
#include "watch/statistics.hpp"

using headway::watch::page_image;

namespace {

constexpr std::array kinds{"queue", "point", "thread", "rail", "bundle", "overlap"};

/// Most inputs are short: the first rows get kinds that are shown.
void name_kinds(page_image& image) {
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (image.rows[i].kind[0] == 0) std::strcpy(image.rows[i].kind.data(), kinds[i]);
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
    if (c != '\n' && (c < ' ' || c > '~')) std::abort();
  const auto json = headway::watch::statistics_json(*image);
  if (std::ranges::any_of(json, [](char c) { return c >= 0 && c < ' ' && c != '\n'; }))
    std::abort();
  return 0;
}
