// headway/progress.h: the engine's counters.

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "c_api/progress/library.hpp"
#include "watch/statistics.hpp"

namespace headway::progress_api {
namespace {

struct counted_kind {
  const char* rows;
  headway_progress_count_kind kind;
};
constexpr std::array kinds{counted_kind{"queue", HEADWAY_PROGRESS_COUNT_QUEUE},
                           counted_kind{"point", HEADWAY_PROGRESS_COUNT_POINT},
                           counted_kind{"thread", HEADWAY_PROGRESS_COUNT_THREAD}};
static_assert(sizeof(headway_progress_count::name) == watch::page_row::name_max);

headway_progress_count count_of(const watch::page_row& row, headway_progress_count_kind kind) {
  headway_progress_count c{};
  c.kind = kind;
  std::memcpy(c.name, row.name.data(), sizeof c.name);
  // A queue has the last two, a point and a thread the first; an absent cell is 0.
  c.rounds = row.at("rounds") + row.at("explicit") + row.at("background");
  c.hits = row.at("hits");
  c.skips = row.at("skips");
  c.runs = row.at("runs");
  c.masked_ns = row.at("masked_ns");
  c.longest_wait_ns = row.at("longest_wait_ns");
  c.waits = row.at("waits");
  c.waited_ns = row.at("waited_ns");
  c.sleeps = row.at("sleeps");
  c.slept_ns = row.at("slept_ns");
  return c;
}

int copy_counts(std::span<headway_progress_count> into, size_t size) {
  constexpr auto call = "headway_progress_counts";
  auto* const user = host();
  if (!user) return not_started(call);
  if (size != sizeof(headway_progress_count))
    return fail(HEADWAY_PROGRESS_MISUSE, call,
                fmt::format("size is {}, not {}", size, sizeof(headway_progress_count)));
  const auto image = std::make_unique<watch::page_image>();
  watch::gather({.progress = user->home()}, 0, *image);
  std::size_t found = 0;
  for (const auto& [rows, kind] : kinds)
    for (const auto* row : image->of(rows)) {
      if (found < into.size()) into[found] = count_of(*row, kind);
      ++found;
    }
  return static_cast<int>(found);
}

}  // namespace
}  // namespace headway::progress_api

int headway_progress_counts(headway_progress_count* into, size_t count_max, size_t size) {
  using namespace headway::progress_api;
  try {
    return copy_counts({into, into ? count_max : 0}, size);
  } catch (const std::exception& e) {
    return fail(HEADWAY_PROGRESS_SYSTEM, "headway_progress_counts", e.what());
  }
}
