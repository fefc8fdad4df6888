#include "tests/simulation/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "tests/simulation/collective_traffic.hpp"
#include "tests/simulation/endpoint_traffic.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/process.hpp"
#include "tests/simulation/traffic.hpp"
#include "tests/simulation/window_traffic.hpp"
#include "tests/simulation/workload.hpp"

namespace headway::simulation {
namespace {

using base::ms;
constexpr std::uint64_t time_limit_ns = 60'000 * ms;
constexpr std::uint64_t silence_max_ns = 2'000 * ms;
// Without activity for this long a process counts as failed: faults are shorter.
constexpr std::uint64_t cut_off_ns = 10'000 * ms;
constexpr std::uint64_t jump_max_ns = 3'000 * ms;
constexpr std::uint64_t machine_known_ns = 15'000 * ms;  // until the driver reports its death
constexpr std::uint64_t rest_ns = 20'000 * ms;           // until all is at rest
// A receive that cannot expose memory is repeated in every round, which takes steps.
constexpr std::uint64_t pressure_max_ns = 50 * ms;
constexpr std::uint64_t hoard_max_ns = 500 * ms;

// The limit of a job that does not end, for each unit of `scenario::length`.
constexpr std::uint64_t steps_max = 1'000'000;

/// The machine of every simulated process.
const topology::machine& one_core() {
  static const auto made =
      topology::machine::read({.description = "package:1 core:1 pu:1"}).value();
  return *made;
}

/// In [first, last], every order of magnitude as often as any other.
std::uint64_t any_scale(dice& d, std::uint64_t first, std::uint64_t last) {
  std::uint64_t most = first;
  while (most < last && !d.one_in(6)) most *= 2;
  return d.between(first, std::min(std::max(most, first), last));
}

std::vector<rail_plan> rails_of(const scenario& what, dice& d) {
  std::vector<rail_plan> all;
  for (std::uint32_t i = 0; i < what.rails; ++i)
    all.push_back({.latency_ns = any_scale(d, 300, 200'000),
                   .jitter_ns = d.below(100'000),
                   .bytes_per_us = any_scale(d, 1, 20'000),
                   .flight_bytes_max = d.between(1, 64) * 4096,
                   .severable = what.rails > 1,
                   .tells_activity = what.tells_activity,
                   .readable = what.reads});
  return all;
}

struct fault {
  enum class kind : std::uint8_t {
    cut,
    mute,
    mend,
    kill,
    slow,
    lose_rail,
    jump,
    refuse,
    grant,
    hoard,
    release
  };
  kind what;
  std::uint64_t at_ns;
  std::uint32_t rail, a, b;
};

/// The state of the simulated job.
class world {
 public:
  world(const scenario& what, bool trace);
  ~world();
  outcome run();

 private:
  void plan_faults(dice& d);
  void plan_more_faults(dice& d);
  void add_work(std::uint32_t process);
  void break_something(const fault& f);
  void do_faults();
  void step(std::uint32_t process);
  void die(std::uint32_t process);
  /// Runs until `enough`, or until nothing more happens or the time is over: false.
  template <class Enough>
  [[nodiscard]] bool run_until(std::uint64_t until_ns, Enough enough);
  [[nodiscard]] bool all_done();
  [[nodiscard]] bool done(std::uint32_t process) const;
  [[nodiscard]] bool at_rest(std::uint32_t process) const;
  [[nodiscard]] bool at_rest() const;
  void look_for_complaints(std::uint32_t process);
  [[nodiscard]] std::string hanging() const;

  const scenario what_;
  dice dice_;
  dice more_;  // for end-points and collectives, so that messages are the same without them
  network net_;
  plan plan_;
  collective_plan collectives_;
  endpoint_plan endpoints_;
  window_plan windows_;
  std::vector<fault> faults_;  // by time
  std::size_t next_fault_ = 0;
  std::uint64_t steps_ = 0;  // of all processes
  std::uint64_t start_ns_;
  std::uint64_t faults_last_ns_;  // all of them begin before
  std::uint64_t pause_max_ns_;    // of a process between two steps of its traffic
  bool died_ = false;
  std::uint32_t not_done_ = 0;  // a process that has more to do, if there is any
  std::string complaint_;       // the first violated invariant
  std::vector<std::unique_ptr<process>> processes_;
  std::vector<std::vector<std::unique_ptr<workload>>> work_;  // of each
  std::vector<std::uint64_t> next_start_ns_;                  // of each; 0: whenever it runs
};

world::world(const scenario& what, bool trace)
    : what_(what),
      dice_(what.seed),
      more_(what.seed ^ 0x5eed),
      net_(what.processes, rails_of(what, dice_), {}, dice_.next()),
      plan_(what.processes, what.messages, what.bytes_max, dice_.next()),
      collectives_(what.processes, what.collectives, what.bytes_max, more_.next()),
      endpoints_(what.processes, what.endpoint_messages, what.bytes_max, more_.next()),
      windows_(what.processes, what.window_episodes, what.bytes_max),
      start_ns_(net_.now_ns()),
      faults_last_ns_(any_scale(dice_, ms / 4, 1'000 * ms) * what.length),
      pause_max_ns_(any_scale(dice_, 5'000, faults_last_ns_ / (8 * what.length))) {
  net_.doubles = what.doubles;
  net_.trace = trace;
  next_start_ns_.resize(what.processes);
  work_.resize(what.processes);
  if (what.allreduce_first) {
    auto& first = collectives_.first();
    first.what = collectives::collective::allreduce;
    first.use = collectives::algorithm::automatic;
    first.count = 1;
  }
  plan_faults(dice_);
  plan_more_faults(more_);
  for (const auto& f : faults_) net_.wake(what.processes, f.at_ns);
  const process_options chosen{.cut_off_ns = cut_off_ns,
                               .credit_bytes = what.credit_bytes,
                               .endpoints = what.endpoint_messages > 0,
                               .endpoint_bytes_max = what.endpoint_bytes_max,
                               .window = what.window,
                               .packs = what.packs,
                               .measured = what.measured};
  for (std::uint32_t i = 0; i < what.processes; ++i)
    processes_.push_back(std::make_unique<process>(net_, one_core(), i, chosen));
  if (!what.first_use)
    for (auto& p : processes_) p->connect_to_all();
  for (std::uint32_t i = 0; i < what.processes; ++i) add_work(i);
}

void world::add_work(std::uint32_t process) {
  auto& all = work_[process];
  auto& on = *processes_[process];
  all.push_back(std::make_unique<traffic>(on, plan_, dice_.next()));
  if (what_.collectives > 0)
    all.push_back(std::make_unique<collective_traffic>(on, collectives_, more_.next()));
  if (what_.endpoint_messages > 0)
    all.push_back(std::make_unique<endpoint_traffic>(on, endpoints_, more_.next(), what_.names));
  if (what_.window_episodes > 0)
    all.push_back(std::make_unique<window_traffic>(on, windows_, more_.next()));
  net_.wake(process, net_.now_ns() + dice_.below(ms));
}

/// Ends all processes properly: their requests have ended, or their rails end them.
world::~world() {
  net_.run_out();
  for (auto& p : processes_) p->stop();
  for (auto& all : work_)
    for (auto& w : all) w->close();
  processes_.clear();
}

void world::plan_faults(dice& d) {
  const auto count = what_.processes;
  const auto any_pair = [&] {
    const auto a = static_cast<std::uint32_t>(d.below(count));
    return std::pair(a, (a + 1 + static_cast<std::uint32_t>(d.below(count - 1))) % count);
  };
  const auto when = [&] { return start_ns_ + d.below(faults_last_ns_); };
  const auto some = d.between(1, 2 * count) * what_.length;
  for (std::uint64_t i = 0; i < some; ++i) {
    const auto [a, b] = any_pair();
    const auto rail = static_cast<std::uint32_t>(d.below(what_.rails));
    if (what_.cuts && d.one_in(2)) faults_.push_back({fault::kind::cut, when(), rail, a, b});
    if (what_.mutes && d.one_in(2)) {
      const auto at_ns = when();
      faults_.push_back({fault::kind::mute, at_ns, rail, a, b});
      faults_.push_back({fault::kind::mend, at_ns + any_scale(d, ms, silence_max_ns), rail, a, b});
    }
    if (what_.slow && d.one_in(4)) faults_.push_back({fault::kind::slow, when(), 0, a, 0});
  }
  if (what_.deaths)
    faults_.push_back(
        {fault::kind::kill, when(), 0, static_cast<std::uint32_t>(d.below(count)), 0});
  std::ranges::stable_sort(faults_, {}, &fault::at_ns);
}

void world::plan_more_faults(dice& d) {
  const auto any = [&] { return static_cast<std::uint32_t>(d.below(what_.processes)); };
  const auto when = [&] { return start_ns_ + d.below(faults_last_ns_); };
  if (what_.machines) {  // the whole machine
    for (auto& f : faults_)
      if (f.what == fault::kind::kill) f.rail = 1;
    if (d.one_in(2) && what_.processes > 2)  // two on one machine
      for (std::size_t i = 0, n = faults_.size(); i < n; ++i)
        if (const auto f = faults_[i]; f.what == fault::kind::kill)
          faults_.push_back({f.what, f.at_ns, f.rail, (f.a + 1) % what_.processes, 0});
  }
  for (auto some = d.between(1, 2 * what_.processes); what_.lost_rails && some > 0; --some) {
    const auto a = any(), b = any();
    const auto rail = static_cast<std::uint32_t>(d.between(1, what_.rails - 1));  // the first stays
    if (a != b) faults_.push_back({fault::kind::lose_rail, when(), rail, a, b});
  }
  for (auto some = d.between(1, 3); what_.jumps && some > 0; --some)
    faults_.push_back({fault::kind::jump, when(), 0, 0, 0});
  for (auto some = d.between(1, 2 * what_.processes) * what_.length; what_.pressure && some > 0;
       --some) {
    const auto at_ns = when();
    const auto who = any();
    faults_.push_back({fault::kind::refuse, at_ns, 0, who, 0});
    faults_.push_back(
        {fault::kind::grant, at_ns + any_scale(d, ms / 10, pressure_max_ns), 0, who, 0});
  }
  for (auto some = d.between(1, what_.processes) * what_.length; what_.hoards && some > 0; --some) {
    const auto at_ns = when();
    const auto who = any();
    faults_.push_back({fault::kind::hoard, at_ns, 0, who, 0});
    faults_.push_back(
        {fault::kind::release, at_ns + any_scale(d, ms / 10, hoard_max_ns), 0, who, 0});
  }
  std::ranges::stable_sort(faults_, {}, &fault::at_ns);
}

void world::die(std::uint32_t process) {
  if (net_.dead(process)) return;
  died_ = true;
  for (auto& all : work_)
    for (auto& w : all) w->process_died(process);
  for (std::uint32_t i = 0; i < what_.processes; ++i) net_.wake(i, net_.now_ns());
}

void world::break_something(const fault& f) {
  switch (f.what) {
    case fault::kind::cut:
      return net_.cut(f.rail, f.a, f.b);
    case fault::kind::mute:
      return net_.mute(f.rail, f.a, f.b);
    case fault::kind::mend:
      return net_.mend(f.rail, f.a, f.b);
    case fault::kind::kill:
      die(f.a);
      return f.rail == 0 ? net_.kill(f.a, 50 * ms) : net_.kill_machine(f.a, machine_known_ns);
    case fault::kind::slow:
      return net_.slow_down(f.a, dice_.below(20 * ms));
    case fault::kind::lose_rail:
      return net_.lose_rail(f.rail, f.a, f.b);
    case fault::kind::jump:
      return net_.jump(more_.below(jump_max_ns));
    case fault::kind::refuse:
      return net_.refuse_memory(f.a, true);
    case fault::kind::grant:
      return net_.refuse_memory(f.a, false);
    case fault::kind::hoard:
    case fault::kind::release:
      if (net_.dead(f.a)) return;
      for (auto& w : work_[f.a]) w->hoard(f.what == fault::kind::hoard);
      return net_.wake(f.a, net_.now_ns());
  }
}

void world::do_faults() {
  while (next_fault_ < faults_.size() && faults_[next_fault_].at_ns <= net_.now_ns())
    break_something(faults_[next_fault_++]);
  if (next_fault_ < faults_.size()) net_.wake(what_.processes, faults_[next_fault_].at_ns);
}

void world::step(std::uint32_t process) {
  auto& all = work_[process];
  auto& next_ns = next_start_ns_[process];
  const auto run = [&] {
    const bool advanced = processes_[process]->run();
    for (auto& w : all) w->check(advanced);
  };
  const auto may_start = [&] {
    return std::ranges::any_of(all, [](const auto& w) { return w->may_start(); });
  };
  run();
  if (net_.now_ns() >= next_ns) {
    bool more = may_start();
    if (more) {
      for (auto& w : all) w->start_some();
      run();
      more = may_start();
    }
    next_ns = more ? net_.now_ns() + dice_.below(pause_max_ns_) : 0;
  }
  look_for_complaints(process);
  if (next_ns != 0) net_.wake(process, next_ns);
}

bool world::done(std::uint32_t process) const {
  return net_.dead(process) ||
         std::ranges::all_of(work_[process], [](const auto& w) { return w->done(); });
}

/// Begins with the process that was not done the last time.
bool world::all_done() {
  for (std::uint32_t i = 0; i < what_.processes; ++i) {
    if (!done(not_done_)) return false;
    not_done_ = (not_done_ + 1) % what_.processes;
  }
  return true;
}

bool world::at_rest(std::uint32_t process) const {
  std::size_t always_pending = 0;
  for (const auto& w : work_[process]) always_pending += w->always_pending();
  return processes_[process]->at_rest(always_pending);
}

bool world::at_rest() const {
  for (std::uint32_t i = 0; i < what_.processes; ++i)
    if (!net_.dead(i) && !at_rest(i)) return false;
  return true;
}

void world::look_for_complaints(std::uint32_t process) {
  for (const auto& w : work_[process]) {
    if (!complaint_.empty()) return;
    complaint_ = w->complaint();
    if (complaint_.empty() && w->failed() > 0 && !died_)
      complaint_ = fmt::format("process {}: {} requests failed, and no process has died", process,
                               w->failed());
  }
}

std::string world::hanging() const {
  std::string text = fmt::format("it does not end, {:.6f} s, {} steps:",
                                 static_cast<double>(net_.now_ns() - start_ns_) * 1e-9, steps_);
  for (std::uint32_t i = 0; i < what_.processes; ++i) {
    if (net_.dead(i) || (done(i) && at_rest(i))) continue;
    text += fmt::format("\n  process {}, {} pending:", i, processes_[i]->engine().pending());
    for (const auto& w : work_[i])
      if (!w->done()) text += w->state();
  }
  return text;
}

template <class Enough>
bool world::run_until(std::uint64_t until_ns, Enough enough) {
  while (!enough()) {
    const auto& awake = net_.next();
    steps_ += awake.size();
    if (awake.empty() || net_.now_ns() > until_ns || steps_ > steps_max * what_.length)
      return false;
    for (const auto one : awake) {
      if (one == what_.processes) do_faults();
      else if (!net_.dead(one)) step(one);
    }
  }
  return true;
}

outcome world::run() {
  outcome result;
  const auto until_ns = start_ns_ + faults_last_ns_ + silence_max_ns + time_limit_ns * what_.length;
  const auto wrong = [&] { return !complaint_.empty(); };
  if (!run_until(until_ns, [&] { return wrong() || all_done(); })) complaint_ = hanging();
  // After a death, now or meanwhile, receives from any source may wait for ever.
  if (!wrong() && !run_until(net_.now_ns() + rest_ns * what_.length,
                             [&] { return wrong() || died_ || at_rest(); }))
    complaint_ = hanging();
  result.complaint = complaint_;
  for (const auto& all : work_)
    for (const auto& w : all) {
      result.checked += w->checked();
      result.failed += w->failed();
    }
  result.steps = steps_;
  result.packets = net_.packets();
  result.simulated_ns = net_.now_ns() - start_ns_;
  result.fingerprint = net_.fingerprint();
  return result;
}

}  // namespace

scenario scenario::times(std::uint32_t count) const {
  auto s = *this;
  s.length *= count;
  s.messages *= count;
  s.collectives *= count;
  s.endpoint_messages *= count;
  s.window_episodes *= count;
  return s;
}

scenario scenario::of_seed(std::uint64_t seed) {
  auto s = of_seed_messages_only(seed);
  dice d(~seed ^ 0x5eed);
  s.collectives = d.one_in(3) ? 0 : static_cast<std::uint32_t>(d.between(1, 30));
  s.endpoint_messages = d.one_in(3) ? 0 : static_cast<std::uint32_t>(d.between(1, 300));
  s.first_use = d.one_in(2);
  s.packs = d.one_in(3);
  s.credit_bytes = std::size_t{4096} << d.below(9);
  s.window = std::uint32_t{8} << d.below(6);
  s.machines = s.deaths && d.one_in(2);
  s.lost_rails = s.rails > 1 && d.one_in(3);
  s.jumps = d.one_in(6);
  s.pressure = d.one_in(4);
  s.tells_activity = !d.one_in(4);
  s.reads = s.rails == 1 && d.one_in(2);
  s.measured = d.one_in(2);
  s.hoards = s.endpoint_messages > 0 && d.one_in(3);
  if (s.hoards) s.endpoint_bytes_max = 64 << 20;
  s.names = d.one_in(2);
  return s;
}

scenario scenario::of_seed_windows(std::uint64_t seed) {
  auto s = of_seed(seed);
  dice d(~seed ^ 0x3140);
  s.window_episodes = static_cast<std::uint32_t>(d.between(1, 100));
  s.messages = static_cast<std::uint32_t>(d.below(50));
  s.collectives = 0;
  s.endpoint_messages = 0;
  s.hoards = s.names = false;
  return s;
}

scenario scenario::of_seed_messages_only(std::uint64_t seed) {
  dice d(~seed);
  scenario s{.seed = seed};
  s.processes = static_cast<std::uint32_t>(d.between(2, d.one_in(8) ? 24 : 6));
  s.rails = static_cast<std::uint32_t>(d.between(1, 3));
  s.messages = static_cast<std::uint32_t>(d.between(20, 600));
  s.bytes_max = std::size_t{1} << d.between(4, 20);
  s.slow = d.one_in(4);
  s.deaths = d.one_in(6);
  if (s.rails > 1) {  // faults that a bundle of rails survives
    s.cuts = d.one_in(2);
    s.mutes = d.one_in(2);
    s.doubles = d.one_in(6);
  }
  s.tells_activity = false;
  return s;
}

std::string scenario::text() const {
  auto text = fmt::format("seed {}: {} processes, {} rails, {} messages up to {} bytes", seed,
                          processes, rails, messages, bytes_max);
  if (length > 1) text += fmt::format(", {} times as long", length);
  if (collectives > 0) text += fmt::format(", {} collectives", collectives);
  if (window_episodes > 0) text += fmt::format(", {} one-sided episodes each", window_episodes);
  if (endpoint_messages > 0) text += fmt::format(", {} to end-points", endpoint_messages);
  const std::pair<bool, const char*> said[] = {{cuts, "cuts"},
                                               {mutes, "silences"},
                                               {slow, "slow processes"},
                                               {deaths, machines ? "a machine's death" : "a death"},
                                               {doubles, "packets twice"},
                                               {lost_rails, "lost rails"},
                                               {jumps, "clock jumps"},
                                               {reads, "memory that is read"},
                                               {pressure, "no memory"},
                                               {hoards, "programs that hold all buffers"},
                                               {packs, "packing"},
                                               {measured, "measured rails"},
                                               {names, "names"},
                                               {first_use, "peers on first use"}};
  for (const auto& [is, name] : said)
    if (is) text += fmt::format(", {}", name);
  return text;
}

outcome simulate(const scenario& what, bool trace) { return world(what, trace).run(); }

}  // namespace headway::simulation
