#include "tools/headway/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.hpp"

namespace headway::tool {
namespace {

using collectives::collective;

constexpr std::int64_t kb = 1024;
constexpr std::array<std::int64_t, 7> sizes{8, 64, kb, 8 * kb, 64 * kb, 512 * kb, 4096 * kb};
constexpr std::int64_t blocks_bytes_max = 8192 * kb;

bool has_blocks(collective what) noexcept {
  switch (what) {
    case collective::gather:
    case collective::scatter:
    case collective::allgather:
    case collective::alltoall:
      return true;
    default:
      return false;
  }
}

bool clearly_quicker(const timed_algorithm& one, const timed_algorithm& built_in) {
  std::size_t won = 0;
  for (std::size_t i = 0; i < one.times_us.size(); ++i)
    won += one.times_us[i] < built_in.times_us[i];
  return one.usual_us <= clearly * built_in.usual_us && 4 * won >= 3 * one.times_us.size();
}

}  // namespace

judgement judge(std::vector<timed_algorithm> all, collectives::algorithm built_in) {
  judgement made;
  // A collective operation may take any time, however many bytes it moves.
  const sampling::plausible_range any{.empty_ns = 0,
                                      .bytes_per_ns_max = std::numeric_limits<double>::infinity()};
  for (auto& one : all) {
    auto sorted = one.times_us;
    const auto found = sampling::read(sorted, 0, any);
    one.usual_us = found.ns;  // in the unit of the times
    if (found.why != sampling::doubt::none) made.why = found.why;
  }
  std::ranges::stable_sort(all, {}, &timed_algorithm::usual_us);
  const auto known = std::ranges::find(all, built_in, &timed_algorithm::use);
  HEADWAY_ASSERT(known != all.end());
  if (!clearly_quicker(all.front(), *known)) std::rotate(all.begin(), known, known + 1);
  made.order = std::move(all);
  return made;
}

std::vector<std::int64_t> tuned_sizes(collective what, int ranks) {
  if (what == collective::barrier) return {0};
  std::vector<std::int64_t> some;
  for (const auto size : sizes)
    if (!has_blocks(what) || size * ranks <= blocks_bytes_max) some.push_back(size);
  return some;
}

std::int64_t bytes_max_of(std::span<const std::int64_t> of, std::size_t index) {
  if (index + 1 == of.size()) return of[index];
  return static_cast<std::int64_t>(
      std::sqrt(static_cast<double>(of[index]) * static_cast<double>(of[index + 1])));
}

void add_row(collectives::tuned_shape& to, collective what, std::int64_t bytes_max,
             std::span<const timed_algorithm> order) {
  collectives::tuned_row row{.what = what, .bytes_max = bytes_max};
  std::ranges::transform(order, row.order.begin(), &timed_algorithm::use);
  if (!to.rows.empty() && to.rows.back().what == what && to.rows.back().order == row.order)
    to.rows.back().bytes_max = bytes_max;
  else to.rows.push_back(row);
}

}  // namespace headway::tool
