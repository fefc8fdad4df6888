#include "packets/transfer/get_choice.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "base/clearly_longer.hpp"
#include "base/lock_guard.hpp"

namespace headway::packets {

std::size_t get_choice::number_of(std::uint64_t bytes, bool beside) noexcept {
  const int bits = static_cast<int>(std::bit_width(bytes)) - first_class_bits;
  const auto size =
      static_cast<std::size_t>(std::clamp(bits, 0, static_cast<int>(class_count) - 1));
  return 2 * size + beside;
}

get_choice::choice get_choice::choose(std::uint64_t bytes, bool beside,
                                      std::uint64_t now_ns) noexcept {
  if (bytes > get_bytes_max) return {};
  const auto number = number_of(bytes, beside);
  const base::lock_guard guard(lock_);
  size_class& c = classes_[number];
  if (c.rows == 0 && c.chosen == 0 && number >= 2) start_like(c, classes_[number - 2]);
  ++c.chosen;  // messages beyond the row are not timed, because those before them are still coming
  return {.by = c.now,
          .timed = c.chosen <= c.length(),
          .number = static_cast<std::uint8_t>(number),
          .row = c.rows,
          .begun_ns = now_ns};
}

get_choice::choice get_choice::choose_known(std::uint64_t bytes, bool beside) noexcept {
  if (bytes > get_bytes_max) return {};
  const base::lock_guard guard(lock_);
  const size_class& c = classes_[number_of(bytes, beside)];
  const auto got = c.cost_of(way::get);
  return {.by = got != 0 && got < c.cost_of(way::put) ? way::get : way::put};
}

/// Messages that overlap: each counts from the end of the one before.
void get_choice::arrived(const choice& made, std::uint64_t bytes, std::uint64_t now_ns) noexcept {
  if (!made.timed) return;
  const base::lock_guard guard(lock_);
  size_class& c = classes_[made.number];
  if (c.rows != made.row) return;  // that row ended early
  const bool overlap = made.number % 2 != 0;
  const auto since = std::max(made.begun_ns, c.last_end_ns);
  const auto took_ns = now_ns > since ? now_ns - since : 0;
  c.last_end_ns = std::max(c.last_end_ns, now_ns);
  c.samples[c.ended++] = took_ns * 1024 / std::max<std::uint64_t>(bytes, 1);
  if (c.ended == c.length() || (!overlap && is_clearly_slower(c))) learn(c, overlap);
}

/// Both of the first two messages of a row took clearly longer than the other way.
bool get_choice::is_clearly_slower(const size_class& c) noexcept {
  const auto other = c.cost_of(c.now == way::get ? way::put : way::get);
  return c.ended == 2 && base::clearly_longer(std::min(c.samples[0], c.samples[1]), other);
}

/// Of overlapping messages several may end at once, so their mean is used; otherwise the median,
/// because one interrupted message would distort a mean. The figure of a way is that of its fastest
/// row, raised by a sixteenth with each slower one.
void get_choice::learn(size_class& c, bool overlap) noexcept {
  const auto samples = std::span(c.samples).first(c.ended);
  std::ranges::sort(samples);
  const auto sum = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  const auto figure = overlap ? sum / samples.size() : samples[samples.size() / 2];
  const auto seen = std::max<std::uint64_t>(figure, 1);
  auto& known = c.cost[static_cast<std::size_t>(c.now)];
  // The first row of each way is discarded: it meets cold memory and page faults.
  if (c.rows >= ways) known = known == 0 ? seen : std::min(seen, known + known / 16 + 1);
  ++c.rows;
  c.chosen = c.ended = 0;
  const way faster = c.faster();
  const way slower = faster == way::put ? way::get : way::put;
  if (c.rows < first_rows) {
    c.now = c.rows % ways == 0 ? way::put : way::get;
  } else if (c.rows < c.retry_at) {
    c.now = faster;
  } else {
    c.now = slower;
    c.retry_period = std::min(2 * c.retry_period, retry_period_max);
    const auto least = c.cost_of(faster);
    const auto lost = (c.cost_of(slower) - least) * 50 / least;
    const auto worth = static_cast<std::uint32_t>(std::min<std::uint64_t>(lost, retry_rows_max));
    c.retry_at = c.rows + 1 + std::max(c.retry_period, c.rows < cold_rows ? 0 : worth);
  }
}

/// Takes over the figures of the next smaller size class, in place of first rows, if it has found
/// one way to be clearly faster.
void get_choice::start_like(size_class& c, const size_class& smaller) noexcept {
  const way faster = smaller.faster();
  const way slower = faster == way::put ? way::get : way::put;
  if (smaller.rows < first_rows ||
      !base::clearly_longer(smaller.cost_of(slower), smaller.cost_of(faster)))
    return;
  c.cost = smaller.cost;
  c.rows = first_rows;
  c.now = faster;
}

}  // namespace headway::packets
