#include "tools/headway/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "runtime/tuned.hpp"
#include "tools/headway/collective_meter.hpp"
#include "tools/headway/start_ranks.hpp"
#include "tools/headway/tuning.hpp"
#include "wireup/profiles.hpp"

namespace headway::tool {
namespace {

using collectives::collective;
using namespace std::chrono_literals;

constexpr std::size_t bytes_max = 8 << 20;
constexpr int attempts_max = 3;

/// The operations whose choice knows the size.
constexpr collective tuned_collectives[] = {
    collective::barrier, collective::bcast,   collective::reduce,        collective::allreduce,
    collective::gather,  collective::scatter, collective::allgather,     collective::alltoall,
    collective::scan,    collective::exscan,  collective::reduce_scatter};

/// One size of one operation, for the report.
struct tuned_size {
  collective what{};
  std::int64_t bytes = 0;
  timed_algorithm best, built_in;
};

class tuning_session {
 public:
  tuning_session(runtime::instance& job, const tune_options& wanted)
      : job_(job), wanted_(wanted), meter_(job, bytes_max) {}

  /// The same result on every rank.
  base::result<collectives::tuned_shape> run();
  [[nodiscard]] const std::vector<tuned_size>& sizes() const noexcept { return sizes_; }

 private:
  base::result<> wait_for_idle_machine();
  base::result<judgement> measure(collective what, std::int64_t bytes);
  base::result<judgement> measure_until_plausible(collective what, std::int64_t bytes);

  runtime::instance& job_;
  const tune_options& wanted_;
  collective_meter meter_;
  std::vector<tuned_size> sizes_;
};

/// Other threads that want a processor all the time, and not only in between. The ranks sleep
/// meanwhile, all but the one that looks.
int other_threads(const runtime::instance& job) {
  constexpr int looks = 20;
  constexpr auto pause = 10ms;
  if (job.rank() != 0) {
    std::this_thread::sleep_for((looks + 1) * pause);
    return 0;
  }
  std::this_thread::sleep_for(pause);
  int least = INT32_MAX;
  for (int i = 0; i < looks; ++i) {
    least = std::min(least, job.machine().runnable_threads() - 1);
    std::this_thread::sleep_for(pause);
  }
  return std::max(least, 0);
}

base::result<> tuning_session::wait_for_idle_machine() {
  double others = 0;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(1s);
    const auto seen = meter_.largest(other_threads(job_));
    if (!seen) return std::unexpected(seen.error());
    others = *seen;
    if (others == 0) return {};
  }
  return base::failed(
      base::fault_kind::timed_out,
      fmt::format("the machine is busy: {} other threads want to run; nothing is kept", others));
}

/// Every usable algorithm in each round, in turns.
base::result<judgement> tuning_session::measure(collective what, std::int64_t bytes) {
  std::vector<timed_algorithm> all;
  for (const auto use : meter_.usable(what, bytes)) all.push_back({.use = use, .times_us = {}});
  const int rounds = wanted_.quick ? 5 : 12;
  const double round_us = wanted_.quick ? 1000 : 3000;
  std::vector<int> calls;
  for (const auto& one : all) {
    const auto us = meter_.time_us(what, bytes, one.use, 3);  // also a warm-up
    if (!us) return std::unexpected(us.error());
    calls.push_back(static_cast<int>(std::clamp(round_us / std::max(*us, 0.1), 3.0, 300.0)));
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto turn = (i + static_cast<std::size_t>(round)) % all.size();
      const auto us = meter_.time_us(what, bytes, all[turn].use, calls[turn]);
      if (!us) return std::unexpected(us.error());
      all[turn].times_us.push_back(*us);
    }
  }
  return judge(std::move(all), meter_.built_in(what, bytes));
}

base::result<judgement> tuning_session::measure_until_plausible(collective what,
                                                                std::int64_t bytes) {
  auto found = measure(what, bytes);
  for (int i = 1; i < attempts_max && found && found->why != sampling::doubt::none; ++i) {
    if (auto ready = wait_for_idle_machine(); !ready) return std::unexpected(ready.error());
    found = measure(what, bytes);
  }
  if (found && found->why != sampling::doubt::none)
    return base::failed(
        base::fault_kind::timed_out,
        fmt::format("implausible, and not kept: {}: {}; is the machine busy?", name_of(what),
                    sampling::text_of(found->why, static_cast<std::uint64_t>(bytes))));
  return found;
}

base::result<collectives::tuned_shape> tuning_session::run() {
  collectives::tuned_shape made{.ranks = job_.size(),
                                .processors = job_.machine().node_processors(),
                                .measured_at = wireup::seconds_now(),
                                .rows = {}};
  if (auto ready = wait_for_idle_machine(); !ready) return std::unexpected(ready.error());
  for (const auto what : tuned_collectives) {
    const auto sizes = tuned_sizes(what, job_.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto found = measure_until_plausible(what, sizes[i]);
      if (!found) return std::unexpected(found.error());
      add_row(made, what, bytes_max_of(sizes, i), found->order);
      const auto built_in = meter_.built_in(what, sizes[i]);
      sizes_.push_back(
          {.what = what,
           .bytes = sizes[i],
           .best = found->order.front(),
           .built_in = *std::ranges::find(found->order, built_in, &timed_algorithm::use)});
    }
  }
  if (auto still = wait_for_idle_machine(); !still) return std::unexpected(still.error());
  return made;
}

void show(const std::vector<tuned_size>& sizes) {
  fmt::print("{:<15} {:>9}  {:<13} {:>10}  {:<13} {:>10}  {}\n", "operation", "bytes", "quickest",
             "µs", "built in", "µs", "ratio");
  for (const auto& one : sizes)
    fmt::print("{:<15} {:>9}  {:<13} {:>9.2f}  {:<13} {:>9.2f}  {:.2f}\n", name_of(one.what),
               one.bytes, name_of(one.best.use), one.best.usual_us, name_of(one.built_in.use),
               one.built_in.usual_us, one.best.usual_us / one.built_in.usual_us);
}

int report(const runtime::instance& job, const runtime::settings& chosen, const tuning_session& s,
           collectives::tuned_shape found, const tune_options& wanted) {
  show(s.sizes());
  if (wanted.forget) return 0;
  const auto store = runtime::tuned_store_of(chosen, job.machine());
  if (const auto saved = store.save(std::move(found)); !saved) {
    fmt::print(stderr, "headway: tune: the table is not kept: {}\n", saved.error().text);
    return 1;
  }
  fmt::print("kept in {} for jobs of {} ranks here\n", store.file().string(), job.size());
  return 0;
}

int failed(const base::fault& f) {
  fmt::print(stderr, "headway: tune: {}\n", f.text);
  return 1;
}

bool on_one_node(const runtime::instance& job) {
  return std::ranges::all_of(job.job_members()->peers(),
                             [&](auto process) { return job.node_of(process) == 0; });
}

/// Rank 0 reports, and has the status.
int tune_job(runtime::instance& job, const runtime::settings& chosen, const tune_options& wanted) {
  const bool speaks = job.rank() == 0;
  if (!on_one_node(job)) {
    const base::fault why{.text = "measures the ranks of one node, this job has more nodes"};
    return speaks ? failed(why) : 0;
  }
  tuning_session s(job, wanted);
  const auto found = s.run();
  if (!speaks) return 0;
  return found ? report(job, chosen, s, *found, wanted) : failed(found.error());
}

}  // namespace

int tune(const tune_options& wanted) {
  const auto chosen = runtime::settings::from_environment();
  auto job = runtime::instance::start(chosen);
  if (!job) return failed(job.error());
  const int processors = (*job)->machine().node_processors();
  const bool alone = (*job)->size() == 1;
  if (!alone) base::report_misspelt_settings();
  const int status = alone ? 0 : tune_job(**job, chosen, wanted);
  // A rank that leaves while others measure counts as failed.
  if (auto done = (*job)->job().barrier(); !done) return failed(done.error());
  if (auto left = (*job)->stop(); !left) return failed(left.error());
  if (!alone) return status;
  const int ranks = wanted.ranks > 0 ? wanted.ranks : processors;
  if (ranks < 2)
    return failed({.text = "one rank has nothing to choose: name a number, as in -n 4"});
  std::vector<std::string> options;
  if (wanted.quick) options.emplace_back("--quick");
  if (wanted.forget) options.emplace_back("--forget");
  return start_ranks(ranks, "tune", options);
}

}  // namespace headway::tool
