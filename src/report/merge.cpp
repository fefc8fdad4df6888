#include "report/merge.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "report/site_names.hpp"
#include "report/time_text.hpp"

namespace headway::report {
namespace {

using pair_table = std::map<std::pair<std::uint32_t, std::uint32_t>, pair_total>;

pair_total& pair_of(pair_table& all, std::uint32_t waiting, std::uint32_t awaited) {
  auto& found = all[{waiting, awaited}];
  found.waiting = waiting;
  found.awaited = awaited;
  return found;
}

bool is_sampled(const call_sums& s) { return s.timed + s.waited < s.calls; }

/// The part of its estimates that counts for a rank: all of it, unless its threads would then have
/// been in MPI for longer than it ran.
double share_of_estimates(const part& p) {
  std::uint64_t known = 0, estimated = 0;
  for (const auto& row : p.calls) {
    known += row.sums.known_ns();
    estimated += row.sums.total_ns() - row.sums.known_ns();
  }
  const auto most = (p.ended_ns - p.began_ns) * std::max<std::uint64_t>(p.threads_calling, 1);
  const auto room = most > known ? most - known : 0;
  return estimated <= room ? 1 : static_cast<double>(room) / static_cast<double>(estimated);
}

double seconds_of(const call_sums& s, double share) {
  return seconds(s.known_ns()) + share * seconds(s.total_ns() - s.known_ns());
}

void add_calls(const std::vector<part>& parts, summary& job) {
  std::vector<call_site> sites;
  std::vector<call_total> totals;
  std::map<std::pair<std::string, std::pair<std::string, std::uint64_t>>, std::size_t> known;
  for (const auto& p : parts) {
    const auto share = share_of_estimates(p);
    for (const auto& row : p.calls) {
      const auto [at, fresh] =
          known.try_emplace({row.function, {row.from.object, row.from.offset}}, totals.size());
      if (fresh) {
        sites.push_back(row.from);
        totals.push_back({.function = row.function, .counts_waits = row.counts_waits});
      }
      auto& total = totals[at->second];
      if (row.sums.longest_ns >= total.sums.longest_ns) total.longest_rank = p.rank;
      total.sums += row.sums;
      total.sampled = total.sampled || is_sampled(row.sums);
      total.total_s += seconds_of(row.sums, share);
      ++total.ranks;
      total.started += row.started;
      job.overlap += row.started;
    }
  }
  const auto names = names_of(sites);
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].place = names[i];
  std::ranges::sort(totals, std::greater{}, &call_total::total_s);
  job.calls = std::move(totals);
}

void add_functions(const std::vector<part>& parts, summary& job) {
  std::map<std::string, function_total> found;
  std::map<std::string, std::vector<rank_value>> times;
  std::vector<rank_value> all_times;
  for (const auto& p : parts) {
    std::map<std::string, double> own;
    double whole = 0;
    const auto share = share_of_estimates(p);
    for (const auto& row : p.calls) {
      auto& total = found[row.function];
      total.calls += row.sums.calls;
      total.messages += row.sums.messages;
      total.bytes += row.sums.bytes;
      total.sampled = total.sampled || is_sampled(row.sums);
      const auto took = seconds_of(row.sums, share);
      own[row.function] += took;
      whole += took;
    }
    for (const auto& [name, value] : own) times[name].push_back({p.rank, value});
    all_times.push_back({p.rank, whole});
  }
  for (auto& [name, total] : found) {
    total.function = name;
    // Ranks that never called it count with zero.
    auto& values = times[name];
    for (const auto& p : parts)
      if (std::ranges::find(values, p.rank, &rank_value::rank) == values.end())
        values.push_back({p.rank, 0});
    total.seconds = spread_of(values);
    job.functions.push_back(total);
  }
  job.mpi_seconds = spread_of(all_times);
  std::ranges::sort(job.functions, std::greater{}, [](const auto& f) { return f.seconds.sum; });
}

/// Of one message: the time in which its sender waited and its receive was not posted yet.
std::uint64_t late_receiver_ns(const send_wait& w, std::uint64_t receive_posted_ns) {
  const auto end = std::min(w.wait_ended_ns, receive_posted_ns);
  return end > w.wait_began_ns ? end - w.wait_began_ns : 0;
}

/// The receive that the message of this wait was late for; null: none, or it cannot be told which.
/// Numbers of messages repeat: on one node, times tell them apart; between nodes, where clocks
/// differ, only a number that occurs once is used.
const late_receive* receive_of(const send_wait& w, const part& sender, const part& receiver) {
  const late_receive* found = nullptr;
  for (const auto& late : receiver.late_receives) {
    if (late.from != sender.rank || late.number != w.number) continue;
    if (sender.node == receiver.node) {
      const bool of_this_message =
          late.announced_ns == 0 ? late.posted_ns >= w.sent_ns : late.announced_ns >= w.sent_ns;
      if (of_this_message && late.posted_ns <= w.wait_ended_ns) return &late;
    } else if (late.announced_ns != 0) {
      if (found) return nullptr;
      found = &late;
    }
  }
  return found;
}

/// So much of a wait for a send was for its receiver.
void add_for_partner(part& sender, const send_wait& w, std::uint64_t ns) {
  if (w.started_by >= sender.calls.size()) return;
  auto& sums = sender.calls[w.started_by].started;
  // The wait counts for several operations if they were found complete together.
  const auto others_ns = sums.for_partner_ns + sums.possible_ns;
  sums.for_partner_ns += std::min(ns, sums.waited_ns - std::min(sums.waited_ns, others_ns));
}

void add_late_receivers(std::vector<part>& parts, pair_table& pairs) {
  std::map<std::uint32_t, const part*> by_rank;
  for (const auto& p : parts) by_rank[p.rank] = &p;
  for (auto& sender : parts) {
    for (const auto& w : sender.send_waits) {
      const auto other = by_rank.find(w.to);
      if (other == by_rank.end()) continue;
      const auto* late = receive_of(w, sender, *other->second);
      if (!late) continue;
      // Between nodes: the receive is as late after the start of the send as it is after the
      // announcement, which takes a fraction of a millisecond more.
      const auto posted_ns = sender.node == other->second->node
                                 ? late->posted_ns
                                 : w.sent_ns + (late->posted_ns - late->announced_ns);
      const auto ns = late_receiver_ns(w, posted_ns);
      if (ns == 0) continue;
      auto& pair = pair_of(pairs, sender.rank, w.to);
      ++pair.late_receiver;
      pair.late_receiver_s += seconds(ns);
      add_for_partner(sender, w, ns);
    }
  }
}

void add_late_senders(const std::vector<part>& parts, pair_table& pairs) {
  for (const auto& p : parts) {
    for (const auto& row : p.peers) {
      if (row.late_sender == 0) continue;
      auto& pair = pair_of(pairs, p.rank, row.rank);
      pair.late_sender += row.late_sender;
      pair.late_sender_s += seconds(row.late_sender_ns);
    }
  }
}

struct arrival {
  std::uint32_t rank;
  const collective_entry* call;
};

/// Attributes the waits of one call, of which one in `scale` was kept.
void add_call(const std::vector<arrival>& all, double scale, pair_table& pairs) {
  const auto last =
      std::ranges::max_element(all, {}, [](const auto& a) { return a.call->entered_ns; });
  const auto root = std::ranges::find(all, all.front().call->root, &arrival::rank);
  const auto waits = all.front().call->waits;
  if (waits != dependence::on_all && root == all.end()) return;
  const auto awaited = waits == dependence::on_root ? root : last;
  for (const auto& a : all) {
    if (a.rank == awaited->rank) continue;
    if (waits == dependence::root_alone && a.rank != root->rank) continue;
    const auto until = std::min(awaited->call->entered_ns, a.call->left_ns);
    if (until <= a.call->entered_ns) continue;
    auto& pair = pair_of(pairs, a.rank, awaited->rank);
    ++pair.collective;
    pair.collective_s += scale * seconds(until - a.call->entered_ns);
  }
}

/// The logs of one communicator, of all its members that reported.
struct communicator_logs {
  std::vector<std::pair<const part*, const collective_log*>> of;
};

bool on_one_node(const communicator_logs& logs) {
  return std::ranges::all_of(
      logs.of, [&](const auto& each) { return each.first->node == logs.of.front().first->node; });
}

void add_communicator(const communicator_logs& logs, summary& job, pair_table& pairs) {
  const auto& first = *logs.of.front().second;
  std::uint64_t stride = 1;
  for (const auto& [who, log] : logs.of) stride = std::max(stride, log->stride());
  job.collectives.calls += first.calls();
  if (!on_one_node(logs)) {
    job.collectives.between_nodes += first.calls();
    return;
  }
  std::map<std::uint64_t, std::vector<arrival>> by_number;
  for (const auto& [who, log] : logs.of)
    for (const auto& e : log->entries())
      if (e.number % stride == 0) by_number[e.number].push_back({who->rank, &e});
  for (const auto& [number, arrivals] : by_number) {
    if (arrivals.size() != first.members().size()) continue;
    ++job.collectives.compared;
    add_call(arrivals, static_cast<double>(stride), pairs);
  }
}

void add_collectives(const std::vector<part>& parts, summary& job, pair_table& pairs) {
  std::vector<communicator_logs> found;
  for (const auto& p : parts) {
    for (const auto& log : p.collectives) {
      const auto known = std::ranges::find_if(
          found, [&](const auto& each) { return each.of.front().second->same_as(log); });
      if (known == found.end()) found.push_back({{{&p, &log}}});
      else known->of.emplace_back(&p, &log);
    }
  }
  for (const auto& each : found) add_communicator(each, job, pairs);
}

void add_sizes(const size_counts& from, size_counts& to) {
  for (std::size_t i = 0; i < size_counts::classes; ++i) {
    to.messages[i] += from.messages[i];
    to.bytes[i] += from.bytes[i];
  }
}

void add_counters(const std::vector<part>& parts, summary& job) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<rank_value>> values;
  for (const auto& p : parts) {
    for (const auto& c : p.counters) {
      auto& of = values[c.name];
      if (of.empty()) order.push_back(c.name);
      of.push_back({p.rank, static_cast<double>(c.value)});
    }
  }
  for (const auto& name : order) job.counters.push_back({name, spread_of(values[name])});
}

void add_times(const std::vector<part>& parts, summary& job) {
  // Clocks of different nodes differ: the job lasts as long as its longest rank.
  for (const auto& p : parts) job.seconds = std::max(job.seconds, seconds(p.ended_ns - p.began_ns));
}

}  // namespace

spread spread_of(std::vector<rank_value> values) {
  if (values.empty()) return {};
  std::ranges::sort(values, {}, &rank_value::value);
  const auto middle = values.size() / 2;
  const double median = values.size() % 2 != 0
                            ? values[middle].value
                            : (values[middle - 1].value + values[middle].value) / 2;
  spread made{.least = values.front().value,
              .median = median,
              .greatest = values.back().value,
              .least_rank = values.front().rank,
              .greatest_rank = values.back().rank};
  for (const auto& v : values) made.sum += v.value;
  return made;
}

summary merge(std::vector<part> parts, std::uint32_t size) {
  summary job{.size = size};
  std::ranges::sort(parts, {}, &part::rank);
  for (std::uint32_t rank = 0; rank < size; ++rank)
    if (std::ranges::find(parts, rank, &part::rank) == parts.end()) job.missing.push_back(rank);
  pair_table pairs;
  add_late_receivers(parts, pairs);
  add_times(parts, job);
  add_calls(parts, job);
  add_functions(parts, job);
  add_counters(parts, job);
  add_late_senders(parts, pairs);
  add_collectives(parts, job, pairs);
  for (auto& [key, pair] : pairs) job.waits.push_back(pair);
  std::ranges::sort(job.waits, std::greater{}, &pair_total::all_s);
  for (const auto& p : parts) {
    for (const auto& row : p.peers)
      if (row.sent != 0) job.traffic.push_back({p.rank, row.rank, row.sent, row.bytes_sent});
    add_sizes(p.sizes_sent, job.sizes_sent);
    job.waits_dropped += p.waits_dropped;
  }
  job.ranks = std::move(parts);
  for (auto& p : job.ranks) {
    p.send_waits.clear();
    p.late_receives.clear();
    p.collectives.clear();
  }
  job.advice = advice_on(job);
  return job;
}

}  // namespace headway::report
