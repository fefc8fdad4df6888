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
#include "engine/profiles.hpp"
#include "launch/job.hpp"
#include "sampling/store.hpp"
#include "tools/headway/rail_meter.hpp"
#include "tools/headway/sample_report.hpp"

namespace headway::tool {
namespace {

struct choices {
  std::vector<std::string> rails;
  std::string plot;
  bool json = false;
  bool quick = false;
  bool forget = false;
};

constexpr const char* host_name = "host";

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

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
  base::result<sampled_rail> measure(rails::driver& rail);
  void keep(sampled_rail& r) const;
  [[nodiscard]] int other() const { return 1 - job_.who().rank; }

  launch::job& job_;
  const choices& wanted_;
  std::vector<engine::opened_rail> opened_;
  std::vector<rails::driver*> meeting_;  // those that reach the other rank, in rank 0's order
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
  auto opened = engine::open_rails(job_);
  if (!opened) return std::unexpected(opened.error());
  opened_ = std::move(*opened);
  here_ = engine::own_host();
  if (auto done = job_.publish(host_name, bytes_of(here_)); !done) return done;
  if (auto done = engine::publish_rails(job_, opened_); !done) return done;
  if (auto done = job_.exchange(); !done) return done;
  const auto host = job_.lookup(other(), host_name);
  if (!host) return std::unexpected(host.error());
  there_.assign(reinterpret_cast<const char*>(host->data()), host->size());
  auto partners = engine::find_partners(job_, other(), opened_);
  if (!partners) return std::unexpected(partners.error());
  // Both measure the same rail at a time.
  std::vector<std::pair<std::size_t, rails::driver*>> ordered;
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    const auto& partner = (*partners)[i];
    if (!partner.address) continue;
    auto& rail = *opened_[i].rail;
    const auto connected = rail.connect(static_cast<rails::peer_id>(other()), *partner.address);
    if (!connected && connected.error().kind == base::fault_kind::unsupported) continue;
    if (!connected) return std::unexpected(connected.error());
    ordered.emplace_back(partner.turn, &rail);
  }
  std::ranges::sort(ordered);
  for (const auto& [turn, rail] : ordered) meeting_.push_back(rail);
  return {};
}

base::result<sampled_rail> session::measure(rails::driver& rail) {
  sampled_rail r;
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
  return r;
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
  for (auto* rail : meeting_) {
    if (!wants(rail->query().name)) continue;
    auto r = measure(*rail);
    if (!r) {
      auto& failed = all.emplace_back();
      failed.kept.key = {.here = here_, .there = there_, .rail = rail->query().name};
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
      "sample, or srun -N 2 -n 2 --mpi=pmi2 headway sample. Alone it starts two ranks here.");
  command->add_option("--rail", wanted->rails, "only rails of this name or pattern: tcp:eth*");
  command->add_option("--plot", wanted->plot, "draws rate against size into this SVG file");
  command->add_flag("--json", wanted->json, "every sample, as one JSON object");
  command->add_flag("--quick", wanted->quick, "a second instead of ten, up to 4 MB");
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
