#include "tools/headway/sample.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/log.hpp"
#include "base/misspelt_settings.hpp"
#include "launch/job.hpp"
#include "runtime/builtin.hpp"
#include "sampling/store.hpp"
#include "tools/headway/rail_meter.hpp"
#include "tools/headway/sample_report.hpp"
#include "tools/headway/shared_program.hpp"
#include "tools/headway/start_ranks.hpp"
#include "tools/headway/stream_meter.hpp"
#include "wireup/peer_rails.hpp"
#include "wireup/profiles.hpp"

namespace headway::tool {
namespace {

/// The most connections on each interface, unless HEADWAY_CONNECTIONS is larger.
constexpr int connections_tried = 4;

/// The options of this command for the two ranks.
std::vector<std::string> options_of(const sample_options& wanted) {
  std::vector<std::string> all;
  for (const auto& rail : wanted.rails) all.insert(all.end(), {"--rail", rail});
  if (!wanted.plot.empty()) all.insert(all.end(), {"--plot", wanted.plot});
  if (wanted.json) all.emplace_back("--json");
  if (wanted.quick) all.emplace_back("--quick");
  if (wanted.forget) all.emplace_back("--forget");
  return all;
}

/// The two ranks, and the rails between them.
class session {
 public:
  session(launch::job& job, const sample_options& wanted, const runtime::settings& chosen)
      : job_(job), wanted_(wanted), chosen_(chosen), profiles_(chosen.sampling) {
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      known_.add({.job = processes::job_id_of(job.who().job_id), .rank = rank});
  }

  base::result<std::vector<sampled_rail>> run();
  [[nodiscard]] bool first() const { return job_.who().rank == 0; }

 private:
  base::result<> meet();
  [[nodiscard]] bool wants(std::string_view rail) const;
  /// What one interface has, or a driver without interfaces.
  struct way {
    std::string driver;
    std::string interface;
    std::vector<rails::driver*> connections;
  };
  base::result<sampled_rail> measure(const way& w);
  base::result<> choose_connections(const way& w, sampled_rail& r);
  void keep(sampled_rail& r) const;
  [[nodiscard]] int other() const { return 1 - job_.who().rank; }

  launch::job& job_;
  const sample_options& wanted_;
  const runtime::settings& chosen_;
  const wireup::rail_profiles profiles_;
  processes::table known_;  // both ranks: their numbers in it are their ranks
  std::vector<wireup::opened_rail> opened_;
  std::vector<way> ways_;  // that reach the other rank, in an order that both have
  std::string here_, there_;
};

bool session::wants(std::string_view rail) const {
  if (rail == "self") return false;
  return wanted_.rails.empty() || std::ranges::any_of(wanted_.rails, [&](const std::string& p) {
           return fnmatch(p.c_str(), std::string(rail).c_str(), 0) == 0;
         });
}

/// Opens the rails, exchanges addresses, and matches each rail with one of the other rank.
base::result<> session::meet() {
  auto how = chosen_;
  if (how.rails.connections == 0) how.rails.connections = connections_tried;
  const auto me = static_cast<rails::peer_id>(job_.who().rank);
  auto opened = runtime::open_rails({.job = job_, .known = known_, .me = me}, how, profiles_);
  if (!opened) return std::unexpected(opened.error());
  opened_ = std::move(opened->all);
  here_ = wireup::own_host();
  const wireup::own_rails ours(opened_);
  const wireup::process_record own{.host = here_, .addresses = ours.addresses()};
  if (auto done = job_.publish(own.pack()); !done) return done;
  const auto bytes = job_.record_of(other());
  if (!bytes) return std::unexpected(bytes.error());
  auto theirs = wireup::process_record::unpack(*bytes);
  if (!theirs) return std::unexpected(std::move(theirs).error());
  there_ = theirs->host;
  const auto partners = ours.to(*theirs, first());
  // Both measure the same rail at a time.
  std::vector<std::pair<std::size_t, std::size_t>> ordered;  // by turn
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    const auto& partner = partners[i];
    if (!partner.address) continue;
    auto& rail = *opened_[i].rail;
    const auto connected = rail.connect(static_cast<rails::peer_id>(other()), *partner.address);
    if (!connected && connected.error().kind == base::fault_kind::unsupported) continue;
    if (!connected) return std::unexpected(connected.error());
    ordered.emplace_back(partner.turn, i);
  }
  std::ranges::sort(ordered);
  for (const auto& [turn, i] : ordered) {
    const auto& o = opened_[i];
    auto found = std::ranges::find_if(
        ways_, [&](const way& w) { return w.driver == o.driver && w.interface == o.interface; });
    if (found == ways_.end())
      found =
          ways_.insert(found, {.driver = o.driver, .interface = o.interface, .connections = {}});
    found->connections.push_back(o.rail.get());
  }
  return {};
}

base::result<sampled_rail> session::measure(const way& w) {
  sampled_rail r;
  auto& rail = *w.connections.front();
  const auto limits = rail.query();
  r.kept.key = {.here = here_, .there = there_, .rail = limits.name};
  r.eager_bytes_max = limits.eager_bytes_max;
  rail_meter::settings how;
  if (wanted_.quick) {
    how.size_ns = 1'000'000;
    how.slow_ns = 10'000'000;
    how.bytes_max = 4 << 20;
  }
  rail_meter meter(rail, static_cast<rails::peer_id>(other()), how);
  const auto one = first() ? meter.lead() : meter.follow();
  if (!one) return std::unexpected(one.error());
  const auto two = first() ? meter.follow() : meter.lead();
  if (!two) return std::unexpected(two.error());
  // Both sides know both, and refuse together.
  for (const auto* each : {&*one, &*two})
    if (each->why != sampling::doubt::none)
      return base::failed(base::fault_kind::timed_out,
                          fmt::format("implausible, and not kept: {}; is the machine busy?",
                                      sampling::text_of(each->why, each->doubtful_bytes)));
  r.out = first() ? *one : *two;
  r.in = first() ? *two : *one;
  const auto guess = sampling::profile{};
  r.kept.found = {.piece = sampling::curve::from_samples(r.in.piece).value_or(guess.piece),
                  .eager = sampling::curve::from_samples(r.out.eager).value_or(guess.eager),
                  .cost = sampling::curve::from_samples(r.out.cost).value_or(guess.cost)};
  r.kept.hardware = wireup::hardware_of(limits.name);
  r.kept.measured_at = wireup::seconds_now();
  if (w.connections.size() == 1) {  // nothing to choose from: keeps the number in the profile
    if (const auto known = profiles_.find(there_, limits.name))
      r.kept.found.connections = known->connections;
  } else if (const auto chosen = choose_connections(w, r); !chosen) {
    base::log(base::severity::warning, "{} stays at one connection: {}", limits.name,
              chosen.error().text);
  }
  return r;
}

/// Computed from both directions, so that both sides get the same number.
base::result<> session::choose_connections(const way& w, sampled_rail& r) {
  constexpr double stream_ns = 150e6;
  constexpr double quick_ns = 50e6;
  constexpr double longest_ns = 2e9;
  constexpr double round_trips = 20;  // a window must have opened before the middle of a stream
  const double windows_ns = round_trips * 2 * r.kept.found.eager.latency_ns();
  stream_meter::settings how;
  how.stream_ns = static_cast<std::uint64_t>(
      std::clamp(windows_ns, wanted_.quick ? quick_ns : stream_ns, longest_ns));
  if (wanted_.quick) how.memory_bytes_max = 4 << 20;
  stream_meter meter(w.connections, static_cast<rails::peer_id>(other()), how);
  // The side that received the last message of the measurement before begins: none overtakes it.
  auto one = first() ? meter.follow() : meter.lead();
  if (!one) return std::unexpected(std::move(one).error());
  auto two = first() ? meter.lead() : meter.follow();
  if (!two) return std::unexpected(std::move(two).error());
  r.streams_out = std::move(first() ? *two : *one);
  r.streams_in = std::move(first() ? *one : *two);
  r.kept.found.connections =
      sampling::connections_that_pay(sampling::there_and_back(r.streams_out, r.streams_in));
  return {};
}

void session::keep(sampled_rail& r) const {
  const sampling::store store(chosen_.sampling);
  if (const auto saved = store.save(r.kept)) {
    r.file = store.file_of(r.kept.key).string();
  } else {
    base::log(base::severity::warning, "the profile of {} is not kept: {}", r.kept.key.rail,
              saved.error().text);
  }
}

base::result<std::vector<sampled_rail>> session::run() {
  if (auto done = meet(); !done) return std::unexpected(done.error());
  std::vector<sampled_rail> all;
  for (const auto& w : ways_) {
    const std::string name = w.connections.front()->query().name;
    if (!wants(name)) continue;
    auto r = measure(w);
    if (!r) {
      auto& failed = all.emplace_back();
      failed.kept.key = {.here = here_, .there = there_, .rail = name};
      failed.fault = r.error().text;
      continue;
    }
    if (!wanted_.forget) keep(*r);
    all.push_back(std::move(*r));
  }
  for (auto& o : opened_) o.rail->close();
  if (auto done = job_.barrier(); !done) return std::unexpected(done.error());
  return all;
}

int show(const std::vector<sampled_rail>& rails, const sample_options& wanted) {
  fmt::print("{}", wanted.json ? sample_json(rails) : sample_table(rails));
  if (!wanted.plot.empty() &&
      run_shared_program("sample", "bench/sample_picture", {wanted.plot}, sample_json(rails)) != 0)
    return 1;
  const bool well = std::ranges::all_of(rails, [](const auto& r) { return r.fault.empty(); });
  return well && !rails.empty() ? 0 : 1;
}

}  // namespace

int sample(const sample_options& wanted) {
  const auto failed = [](const base::fault& f) {
    fmt::print(stderr, "headway: sample: {}\n", f.text);
    return 1;
  };
  const auto chosen = runtime::settings::from_environment();
  base::log_as(chosen.log);
  auto job = launch::job::join(chosen.launch);
  if (!job) return failed(job.error());
  const auto size = (*job)->who().size;
  if (size == 1) return start_ranks(2, "sample", options_of(wanted));
  base::log_name(fmt::format("rank {}", (*job)->who().rank));
  base::report_misspelt_settings();
  if (size != 2)
    return failed({.text = fmt::format("measures between two ranks, this job has {}", size)});
  session s(**job, wanted, chosen);
  const auto found = s.run();
  if (!found) return failed(found.error());
  const int status = s.first() ? show(*found, wanted) : 0;
  const auto left = (*job)->finish();
  return left ? status : failed(left.error());
}

}  // namespace headway::tool
