#include "tools/headway/sample.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "base/log.hpp"
#include "engine/builtin.hpp"
#include "engine/partners.hpp"
#include "engine/profiles.hpp"
#include "launch/job.hpp"
#include "rails/selection.hpp"
#include "sampling/store.hpp"
#include "tools/headway/rail_meter.hpp"
#include "tools/headway/sample_report.hpp"
#include "tools/headway/stream_meter.hpp"

namespace headway::tool {
namespace {

struct choices {
  std::vector<std::string> rails;
  std::string plot;
  bool json = false;
  bool quick = false;
  bool forget = false;
};

/// On each interface at most, unless HEADWAY_CONNECTIONS says more.
constexpr int connections_tried = 4;

/// One process is not enough: starts two of us on this machine. Returns only when it could not.
int start_two(const std::vector<std::string>& words) {
  std::error_code fault;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", fault);
  const auto mpiexec = (self.parent_path() / "mpiexec").string();
  std::vector<std::string> all{mpiexec, "-n", "2", self.string(), "sample"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (auto& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(mpiexec.c_str(), arguments.data());
  fmt::print(stderr, "headway: sample: cannot start {}: {}\n", mpiexec, std::strerror(errno));
  return 1;
}

/// The two ranks, and the rails between them.
class session {
 public:
  session(launch::job& job, const choices& wanted) : job_(job), wanted_(wanted) {}

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
  const choices& wanted_;
  std::vector<engine::opened_rail> opened_;
  std::vector<way> ways_;  // that reach the other rank, in an order that both have
  std::string here_, there_;
};

bool session::wants(std::string_view rail) const {
  if (rail == "self") return false;
  return wanted_.rails.empty() || std::ranges::any_of(wanted_.rails, [&](const std::string& p) {
           return fnmatch(p.c_str(), std::string(rail).c_str(), 0) == 0;
         });
}

/// Opens the rails, swaps addresses, and pairs each of ours with one of theirs.
base::result<> session::meet() {
  const auto& who = job_.who();
  if (who.launcher != "headway")
    if (auto done = job_.exchange(); !done) return done;
  const int wanted = rails::connections_wanted();
  auto opened = engine::open_rails(job_, wanted > 0 ? wanted : connections_tried);
  if (!opened) return std::unexpected(opened.error());
  opened_ = std::move(*opened);
  here_ = engine::own_host();
  if (auto done = engine::publish_rails(job_, opened_); !done) return done;
  if (auto done = job_.exchange(); !done) return done;
  auto host = engine::host_of(job_, other());
  if (!host) return std::unexpected(std::move(host).error());
  there_ = std::move(*host);
  auto partners = engine::find_partners(job_, other(), opened_);
  if (!partners) return std::unexpected(partners.error());
  // Both measure the same rail at a time.
  std::vector<std::pair<std::size_t, std::size_t>> ordered;  // by turn
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    const auto& partner = (*partners)[i];
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
  r.out = first() ? *one : *two;
  r.in = first() ? *two : *one;
  const auto guess = sampling::profile{};
  r.kept.found = {.piece = sampling::curve::from_samples(r.in.piece).value_or(guess.piece),
                  .eager = sampling::curve::from_samples(r.out.eager).value_or(guess.eager),
                  .cost = sampling::curve::from_samples(r.out.cost).value_or(guess.cost)};
  r.kept.hardware = engine::hardware_of(limits.name);
  r.kept.measured_at = engine::seconds_now();
  if (w.connections.size() == 1) {  // there is nothing to choose from: as it was chosen
    if (const auto known = engine::stored_profile(there_, limits.name))
      r.kept.found.connections = known->connections;
  } else if (const auto chosen = choose_connections(w, r); !chosen) {
    base::log(base::severity::warning, "{} stays at one connection: {}", limits.name,
              chosen.error().text);
  }
  return r;
}

/// Both sides see both directions, and come to the same number.
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
  // Who has heard the last word of what was measured before begins: nothing is overtaken.
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
  const auto store = sampling::store::of_user();
  const auto saved = store ? store->save(r.kept) : std::unexpected(store.error());
  if (saved) {
    r.file = store->file_of(r.kept.key).string();
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
  if (auto done = job_.exchange(); !done) return std::unexpected(done.error());
  return all;
}

int show(const std::vector<sampled_rail>& rails, const choices& wanted) {
  fmt::print("{}", wanted.json ? sample_json(rails) : sample_table(rails));
  if (!wanted.plot.empty()) {
    std::ofstream file(wanted.plot);
    file << sample_svg(rails);
    if (!file.flush()) {
      fmt::print(stderr, "headway: sample: cannot write {}\n", wanted.plot);
      return 1;
    }
  }
  const bool well = std::ranges::all_of(rails, [](const auto& r) { return r.fault.empty(); });
  return well && !rails.empty() ? 0 : 1;
}

int sample(const choices& wanted, const std::vector<std::string>& words) {
  const auto failed = [](const base::fault& f) {
    fmt::print(stderr, "headway: sample: {}\n", f.text);
    return 1;
  };
  auto job = launch::job::join();
  if (!job) return failed(job.error());
  const auto size = (*job)->who().size;
  if (size == 1) return start_two(words);
  base::log_name(fmt::format("rank {}", (*job)->who().rank));
  if (size != 2)
    return failed({.text = fmt::format("measures between two ranks, this job has {}", size)});
  session s(**job, wanted);
  const auto found = s.run();
  if (!found) return failed(found.error());
  const int status = s.first() ? show(*found, wanted) : 0;
  const auto left = (*job)->finish();
  return left ? status : failed(left.error());
}

}  // namespace

void add_sample(CLI::App& app, int& status) {
  const auto wanted = std::make_shared<choices>();
  auto* command =
      app.add_subcommand("sample", "Measures the rails between two ranks and keeps their profiles");
  command->footer(
      "Between two machines start it as a job of two ranks: mpiexec.hydra -hosts a,b -n 2 headway "
      "sample, or srun -N 2 -n 2 --mpi=pmi2 headway sample. Alone it starts two ranks here. Of "
      "each "
      "network interface it also finds how many connections pay: streams over 1, 2 and 4 at once "
      "(up to HEADWAY_CONNECTIONS, if that is set) are compared, and later jobs between the two "
      "hosts have as many.");
  command->add_option("--rail", wanted->rails, "only rails of this name or pattern: tcp:eth*");
  command->add_option("--plot", wanted->plot, "draws rate against size into this SVG file");
  command->add_flag("--json", wanted->json, "every sample, as one JSON object");
  command->add_flag("--quick", wanted->quick, "some seconds instead of half a minute, up to 4 MB");
  command->add_flag("--forget", wanted->forget, "keeps nothing");
  command->callback([wanted, &status] {
    std::vector<std::string> words;
    for (const auto& rail : wanted->rails) words.insert(words.end(), {"--rail", rail});
    if (!wanted->plot.empty()) words.insert(words.end(), {"--plot", wanted->plot});
    if (wanted->json) words.emplace_back("--json");
    if (wanted->quick) words.emplace_back("--quick");
    if (wanted->forget) words.emplace_back("--forget");
    status = sample(*wanted, words);
  });
}

}  // namespace headway::tool
