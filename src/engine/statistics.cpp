#include "engine/statistics.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "engine/counted_rail.hpp"
#include "progress/meter.hpp"
#include "progress/queue.hpp"

namespace headway::engine {
namespace {

using progress::meter;

/// The polling point of a background thread, by the name that the engine gave it.
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
}

void add_to(meter::report::of_kind& sum, const meter::report::of_kind& one) {
  sum.rounds += one.rounds;
  sum.hits += one.hits;
  sum.skips += one.skips;
  sum.busy_ns += one.busy_ns;
}

void gather_points(const std::vector<meter::report>& threads, page_image& image) {
  constexpr auto calls = static_cast<std::size_t>(progress::round_kind::explicit_);
  constexpr auto ours = static_cast<std::size_t>(progress::round_kind::background);
  std::map<std::string, meter::report::of_kind> points;
  for (const auto& t : threads) {
    add_to(points["explicit"], t.rounds[calls]);
    add_to(points[point_of(t.name)], t.rounds[ours]);
  }
  for (const auto& [name, sum] : points)
    if (sum.rounds != 0) add_rounds(image.add("point", name), sum);
}

void gather_threads(const std::vector<meter::report>& threads, page_image& image) {
  for (const auto& t : threads) {
    auto& row =
        image.add("thread", t.thread == 0 ? t.name : fmt::format("{} {}", t.name, t.thread));
    auto sum = t.rounds[0];
    add_to(sum, t.rounds[1]);
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

void gather_rails(packets::peers& peers, const std::vector<meter::report>& threads,
                  page_image& image) {
  rail_count all;
  for (std::size_t i = 0; i < peers.rail_count(); ++i) {
    const auto* counted = dynamic_cast<const counted_rail*>(&peers.rail_at(i));
    if (!counted) continue;
    const auto c = counted->count();
    auto& row = image.add("rail", counted->query().name);
    row.add("packets_out", c.packets_out);
    row.add("bytes_out", c.bytes_out);
    row.add("packets_in", c.packets_in);
    row.add("bytes_in", c.bytes_in);
    row.add("bytes_overlap", c.bytes_overlap);
    all.bytes_in += c.bytes_in;
    all.bytes_out += c.bytes_out;
    all.bytes_overlap += c.bytes_overlap;
  }
  std::uint64_t waited_ns = 0;
  for (const auto& t : threads) waited_ns += t.waited_ns;
  auto& row = image.add("overlap", "messages");
  row.add("bytes_moved", all.bytes_in + all.bytes_out);
  row.add("bytes_overlap", all.bytes_overlap);
  row.add("waited_ns", waited_ns);
}

}  // namespace

void gather(const observed& what, std::uint64_t began_ns, page_image& image) {
  image = {};
  image.pid = static_cast<std::uint64_t>(getpid());
  image.rank = static_cast<std::uint64_t>(what.rank);
  image.size = static_cast<std::uint64_t>(what.size);
  image.began_ns = began_ns;
  image.written_ns = base::now_ns();
  const std::string_view program = program_invocation_short_name;
  program.copy(image.program.data(), image.program.size() - 1);
  const auto threads = meter::all();
  gather_rails(what.peers, threads, image);
  gather_points(threads, image);
  gather_queues(what.progress, image);
  gather_threads(threads, image);
}

}  // namespace headway::engine
