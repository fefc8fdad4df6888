#include "watch/statistics.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "progress/core/meter.hpp"
#include "progress/core/queue.hpp"

namespace headway::watch {
namespace {

using progress::meter;

/// The polling point of a background thread, from the thread's name: "idle" for "hw-idle1".
std::string point_of(std::string_view thread) {
  if (!thread.starts_with("hw-")) return "lent";
  thread.remove_prefix(3);
  return std::string(thread.substr(0, thread.find_first_of("0123456789")));
}

void add_rounds(page_row& row, const meter::report::of_kind& of) {
  row.add("rounds", of.rounds);
  row.add("hits", of.hits);
  row.add("skips", of.skips);
  row.add("busy_ns", of.busy_ns);
  row.add("masked_ns", of.masked_ns);
  row.add("longest_wait_ns", of.longest_wait_ns);
}

void gather_points(const std::vector<meter::report>& threads, page_image& image) {
  constexpr auto calls = static_cast<std::size_t>(progress::round_kind::explicit_);
  constexpr auto ours = static_cast<std::size_t>(progress::round_kind::background);
  std::map<std::string, meter::report::of_kind> points;
  for (const auto& t : threads) {
    points["explicit"].add(t.rounds[calls]);
    points[point_of(t.name)].add(t.rounds[ours]);
  }
  for (const auto& [name, sum] : points)
    if (sum.rounds != 0) add_rounds(image.add("point", name), sum);
}

void gather_threads(const std::vector<meter::report>& threads, page_image& image) {
  for (const auto& t : threads) {
    auto& row =
        image.add("thread", t.thread == 0 ? t.name : fmt::format("{} {}", t.name, t.thread));
    auto sum = t.rounds[0];
    sum.add(t.rounds[1]);
    add_rounds(row, sum);
    row.add("waits", t.waits);
    row.add("waited_ns", t.waited_ns);
    row.add("sleeps", t.sleeps);
    row.add("slept_ns", t.slept_ns);
  }
}

void gather_queues(progress::engine& engine, page_image& image) {
  for (const auto& q : engine.queues()) {
    if (q.explicit_rounds + q.background_rounds + q.skips == 0) continue;
    auto& row = image.add("queue", q.place);
    row.add("explicit", q.explicit_rounds);
    row.add("background", q.background_rounds);
    row.add("hits", q.hits);
    row.add("runs", q.runs);
    row.add("skips", q.skips);
    row.add("masked_ns", q.masked_ns);
    row.add("longest_wait_ns", q.longest_wait_ns);
  }
}

}  // namespace

void gather(const observed& what, std::uint64_t began_ns, page_image& image) {
  image = {};
  image.pid = static_cast<std::uint64_t>(getpid());
  image.rank = static_cast<std::uint64_t>(what.rank);
  image.size = static_cast<std::uint64_t>(what.size);
  image.began_ns = began_ns;
  image.written_ns = what.progress.clock().now_ns();
  const std::string_view program = program_invocation_short_name;
  program.copy(image.program.data(), image.program.size() - 1);
  // The name may be longer than that of a row: the number tells the jobs apart. It has 53 bits,
  // which every reader of JSON keeps.
  if (!what.job.empty()) image.add("job", what.job).add("id", base::hash_of(what.job) >> 11);
  const auto threads = meter::all();
  if (what.add_rows) what.add_rows(what.above, threads, image);
  gather_points(threads, image);
  gather_queues(what.progress, image);
  gather_threads(threads, image);
}

}  // namespace headway::watch
