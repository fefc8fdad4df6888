#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "report/merge.hpp"
#include "report/time_text.hpp"

// The rules of the advice: each looks at one thing, and says what it costs in seconds of all ranks
// together. What costs most is said first.
namespace headway::report {
namespace {

constexpr std::size_t sentences = 3;
constexpr double worth_saying = 0.01;       // of the time of all ranks
constexpr std::size_t small_class = 8;      // below 256 bytes
constexpr double small_message_s = 0.3e-6;  // what each costs both sides, at least
constexpr std::uint64_t many_messages = 10'000;

struct remark {
  double cost_s;
  std::string text;
};

std::optional<remark> on_late_senders(const summary& job) {
  const auto worst = std::ranges::max_element(job.waits, {}, &pair_total::late_sender_s);
  if (worst == job.waits.end()) return {};
  return remark{worst->late_sender_s,
                fmt::format("Rank {} waited {} for messages of rank {}, which sent them late: let "
                            "rank {} send earlier or do less before, or post the receives of rank "
                            "{} with MPI_Irecv and compute meanwhile.",
                            worst->waiting, time_text(worst->late_sender_s), worst->awaited,
                            worst->awaited, worst->waiting)};
}

std::optional<remark> on_late_receivers(const summary& job) {
  const auto worst = std::ranges::max_element(job.waits, {}, &pair_total::late_receiver_s);
  if (worst == job.waits.end()) return {};
  return remark{worst->late_receiver_s,
                fmt::format("Rank {} waited {} until rank {} posted the receives of its large "
                            "messages: post them earlier there, or send with MPI_Isend and compute "
                            "meanwhile.",
                            worst->waiting, time_text(worst->late_receiver_s), worst->awaited)};
}

std::optional<remark> on_collectives(const summary& job) {
  std::map<std::uint32_t, double> by_awaited;
  for (const auto& w : job.waits) by_awaited[w.awaited] += w.collective_s;
  const auto worst =
      std::ranges::max_element(by_awaited, {}, [](const auto& each) { return each.second; });
  if (worst == by_awaited.end()) return {};
  return remark{
      worst->second,
      fmt::format("In collective operations the other ranks waited {} for rank {}, which "
                  "came last: give it less work, or use the non-blocking form and compute "
                  "until it comes.",
                  time_text(worst->second), worst->first)};
}

std::optional<remark> on_overlap(const summary& job) {
  const auto& o = job.overlap;
  const double possible_s = static_cast<double>(o.possible_ns) * 1e-9;
  return remark{
      possible_s,
      fmt::format("Up to {} of what was waited for in non-blocking operations could have "
                  "been hidden, because both sides were ready while the program computed: "
                  "look whether background progression is on (headway info progress) and "
                  "has a processor to run on.",
                  time_text(possible_s))};
}

std::optional<remark> on_transfers(const summary& job) {
  const auto& o = job.overlap;
  const auto rest_ns = o.waited_ns - std::min(o.waited_ns, o.for_partner_ns + o.possible_ns);
  const double rest_s = static_cast<double>(rest_ns) * 1e-9;
  return remark{rest_s,
                fmt::format("Non-blocking operations were waited for {} with no computation "
                            "left to hide it: start them earlier, or move work between the "
                            "start and the wait.",
                            time_text(rest_s))};
}

std::optional<remark> on_small_messages(const summary& job) {
  std::uint64_t small = 0, all = 0;
  for (std::size_t i = 0; i < size_counts::classes; ++i) {
    all += job.sizes_sent.messages[i];
    if (i <= small_class) small += job.sizes_sent.messages[i];
  }
  if (small < many_messages || small * 2 < all) return {};
  return remark{static_cast<double>(small) * small_message_s,
                fmt::format("{} of {} messages have less than 256 bytes: each costs at least {} "
                            "whatever it carries, so fewer and longer ones would be cheaper.",
                            small, all, time_text(small_message_s))};
}

std::string on_share(const summary& job) {
  const double whole = job.seconds * static_cast<double>(job.ranks.size());
  const double share = whole > 0 ? 100 * job.mpi_seconds.sum / whole : 0;
  if (job.functions.empty()) return "No call of MPI was recorded.";
  const auto& first = job.functions.front();
  return fmt::format("Calls of MPI took {:.1f} % of the ranks' time, most of it {} ({}).", share,
                     first.function, time_text(first.seconds.sum));
}

std::string on_most_of_it(const summary& job) {
  if (job.calls.empty()) return "There is nothing to improve in communication.";
  const auto& c = job.calls.front();
  return fmt::format("The call site with the most time is {} in {}: {} in {} calls.", c.function,
                     c.place, time_text(c.total_s), c.sums.calls);
}

std::string on_balance(const summary& job) {
  const auto& m = job.mpi_seconds;
  return fmt::format(
      "Rank {} was in MPI for {}, rank {} for {}: what differs is mostly waiting for "
      "ranks that have more work.",
      m.greatest_rank, time_text(m.greatest), m.least_rank, time_text(m.least));
}

}  // namespace

std::vector<std::string> advice_on(const summary& job) {
  std::vector<remark> found;
  const double whole_s = job.seconds * static_cast<double>(job.ranks.size());
  for (const auto rule : {on_late_senders, on_late_receivers, on_collectives, on_overlap,
                          on_transfers, on_small_messages})
    if (auto said = rule(job); said && said->cost_s >= worth_saying * whole_s && said->cost_s > 0)
      found.push_back(std::move(*said));
  std::ranges::stable_sort(found, std::greater{}, &remark::cost_s);
  std::vector<std::string> made;
  for (const auto& each : found) made.push_back(each.text);
  for (const auto general : {on_share, on_most_of_it, on_balance}) made.push_back(general(job));
  made.resize(sentences);
  return made;
}

}  // namespace headway::report
