#include "runtime/window_statistics.hpp"

#include <string_view>

namespace headway::runtime {
namespace {

std::uint64_t number_of(const windows::statistics::count& c) noexcept {
  return c.load(std::memory_order_relaxed);  // a count, carries nothing
}

void add_row(std::string_view name, const windows::statistics::row& from, watch::page_image& to) {
  const auto puts = number_of(from.puts), gets = number_of(from.gets);
  const auto accumulates = number_of(from.accumulates), fetches = number_of(from.fetches);
  if (puts + gets + accumulates + fetches == 0) return;
  auto& row = to.add("windows", name);
  row.add("puts", puts);
  row.add("gets", gets);
  row.add("accumulates", accumulates);
  row.add("fetches", fetches);
  row.add("bytes", number_of(from.bytes));
}

}  // namespace

void add_window_rows(const windows::statistics& counts, watch::page_image& image) {
  using windows::way;
  for (const way each : {way::mapped, way::nearby, way::wire})
    add_row(windows::name_of(each), counts.of(each), image);
  add_row("served", counts.served, image);
}

}  // namespace headway::runtime
