#include "packets/transfer/get_choice.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "base/lock_guard.hpp"

namespace headway::packets {

std::size_t get_choice::row_of(std::uint64_t bytes, bool beside) noexcept {
  const int bits = static_cast<int>(std::bit_width(bytes)) - first_class_bits;
  const auto size =
      static_cast<std::size_t>(std::clamp(bits, 0, static_cast<int>(class_count) - 1));
  return 2 * size + beside;
}

get_choice::choice get_choice::choose(std::uint64_t bytes, bool beside,
                                      std::uint64_t now_ns) noexcept {
  if (bytes > get_bytes_max) return {};
  const auto number = row_of(bytes, beside);
  const base::lock_guard guard(lock_);
  row& r = rows_[number];
  ++r.chosen;  // messages beyond the row are not timed, because those before them are still coming
  return {.by = r.now,
          .timed = r.chosen <= r.length(),
          .row = static_cast<std::uint8_t>(number),
          .begun_ns = now_ns};
}

/// Messages that overlap: each counts from the end of the one before.
get_choice::choice get_choice::choose_known(std::uint64_t bytes, bool beside) noexcept {
  if (bytes > get_bytes_max) return {};
  const base::lock_guard guard(lock_);
  const row& r = rows_[row_of(bytes, beside)];
  const auto got = r.cost_of(way::get);
  return {.by = got != 0 && got < r.cost_of(way::put) ? way::get : way::put};
}

void get_choice::arrived(const choice& made, std::uint64_t bytes, std::uint64_t now_ns) noexcept {
  if (!made.timed) return;
  const base::lock_guard guard(lock_);
  row& r = rows_[made.row];
  const auto since = std::max(made.begun_ns, r.last_end_ns);
  const auto took_ns = now_ns > since ? now_ns - since : 0;
  r.last_end_ns = std::max(r.last_end_ns, now_ns);
  r.samples[r.ended++] = took_ns * 1024 / std::max<std::uint64_t>(bytes, 1);
  if (r.ended == r.length()) learn(r, made.row % 2 != 0);
}

/// Of overlapping messages several may end at once, so their mean is used; otherwise the median,
/// because one interrupted message would distort a mean. The figure of a way is that of its fastest
/// row, raised by a sixteenth with each slower one.
void get_choice::learn(row& r, bool overlap) noexcept {
  const auto samples = std::span(r.samples).first(r.length());
  std::ranges::sort(samples);
  const auto sum = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  const auto figure = overlap ? sum / samples.size() : samples[samples.size() / 2];
  const auto seen = std::max<std::uint64_t>(figure, 1);
  auto& known = r.cost[static_cast<std::size_t>(r.now)];
  // The first row of each way is discarded: it meets cold memory and page faults.
  if (r.rows >= 2) known = known == 0 ? seen : std::min(seen, known + known / 16 + 1);
  ++r.rows;
  r.chosen = r.ended = 0;
  const way faster = r.cost_of(way::put) < r.cost_of(way::get) ? way::put : way::get;
  const way slower = faster == way::put ? way::get : way::put;
  if (r.rows < first_rows) {
    r.now = r.rows % 2 == 0 ? way::get : way::put;
  } else if (r.rows < r.retry_at) {
    r.now = faster;
  } else {
    r.now = slower;
    r.retry_period = std::min(2 * r.retry_period, retry_period_max);
    const auto least = r.cost_of(faster);
    const auto lost = (r.cost_of(slower) - least) * 50 / least;
    const auto worth = static_cast<std::uint32_t>(std::min<std::uint64_t>(lost, retry_rows_max));
    r.retry_at = r.rows + 1 + std::max(r.retry_period, r.rows < cold_rows ? 0 : worth);
  }
}

}  // namespace headway::packets
