// How long it takes until the engine acts upon an event while the program computes: from the moment
// at which a computing thread posts a letter, to the ltask that takes it. With one core idle, and
// with every core computing in 1, 4 and 16 threads. --phases alternates the first two instead, and
// prints what `auto` chose: the load changes, and the polling points with it.
//
//   reaction [--letters N] [--seconds S] [--phases ROUNDS] [--json]
//   HEADWAY_PROGRESS and HEADWAY_EVENT_CLASS choose what is measured.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/json_writer.hpp"
#include "base/tunable.hpp"
#include "letterbox.hpp"

namespace {

using namespace headway;

struct options {
  std::size_t letters = 400;
  double seconds = 8;  // of one row at most
  int phases = 0;
  bool json = false;
};

struct row {
  std::string name;
  std::vector<double> took_us;
  progress::engine_statistics before, after;
};

struct running {
  running() {
    auto read = topology::machine::read(topology::settings::from_environment());
    if (!read) std::abort();
    machine = std::move(*read);
    auto started = progress::engine::start(*machine, progress::settings::from_environment());
    if (!started) std::abort();
    the = std::move(*started);
  }
  std::unique_ptr<topology::machine> machine;
  std::unique_ptr<progress::engine> the;
};

/// The calling thread computes too, and between its pieces of work it posts the letters.
row measure(running& e, const std::string& name, int computing, const options& chosen) {
  row r{.name = name, .took_us = {}, .before = {}, .after = {}};
  std::vector<std::jthread> load;
  for (int i = 1; i < computing; ++i)
    load.emplace_back([](const std::stop_token& stop) {
      while (!stop.stop_requested()) base::relax();
    });
  bench::letterbox box(*e.the);
  std::mt19937 random(7);
  const auto compute_until = [](std::uint64_t end) {
    while (base::machine_now_ns() < end) base::relax();
  };
  compute_until(base::machine_now_ns() + 250'000'000);  // `auto` has made its decisions by then
  r.before = e.the->statistics();
  const auto end = base::machine_now_ns() + static_cast<std::uint64_t>(chosen.seconds * 1e9);
  while (r.took_us.size() < chosen.letters && base::machine_now_ns() < end) {
    compute_until(base::machine_now_ns() + 300'000 + random() % 400'000);
    box.post();
    std::uint64_t took = 0;
    while ((took = box.taken()) == 0) base::relax();
    r.took_us.push_back(static_cast<double>(took) / 1e3);
  }
  r.after = e.the->statistics();
  std::ranges::sort(r.took_us);
  return r;
}

double mean(const std::vector<double>& all) {
  double sum = 0;
  for (const double one : all) sum += one;
  return sum / static_cast<double>(all.size());
}

void print_head() {
  fmt::print("{:<34} {:>8} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9}\n", "", "letters", "median us",
             "mean us", "max us", "events", "spells", "withdrawn");
}

void print(const row& r, bool json) {
  if (r.took_us.empty()) return;
  const auto median = r.took_us[r.took_us.size() / 2];
  const auto events = r.after.event_sleeps - r.before.event_sleeps;
  const auto spells = r.after.spare_spells - r.before.spare_spells;
  const auto withdrawn = r.after.spare_withdrawals - r.before.spare_withdrawals;
  if (json) {
    headway::base::json_writer out;
    out.object([&] {
      out.member("load", r.name);
      out.member("letters", r.took_us.size());
      out.member("median_us", median);
      out.member("mean_us", mean(r.took_us));
      out.member("max_us", r.took_us.back());
      out.member("event_sleeps", events);
      out.member("spells", spells);
      out.member("withdrawals", withdrawn);
    });
    fmt::print("{}\n", out.take());
  } else {
    fmt::print("{:<34} {:>8} {:>9.2f} {:>9.2f} {:>9.1f} {:>8} {:>8} {:>9}\n", r.name,
               r.took_us.size(), median, mean(r.took_us), r.took_us.back(), events, spells,
               withdrawn);
  }
  std::fflush(stdout);
}

options read_options(int count, char** words) {
  options chosen;
  for (int i = 1; i < count; ++i) {
    const auto is = [&](const char* name) { return std::strcmp(words[i], name) == 0; };
    const char* value = i + 1 < count ? words[i + 1] : "0";
    if (is("--json")) chosen.json = true;
    else if (is("--letters")) chosen.letters = std::strtoul(value, nullptr, 10), ++i;
    else if (is("--seconds")) chosen.seconds = std::strtod(value, nullptr), ++i;
    else if (is("--phases")) chosen.phases = std::atoi(value), ++i;
    else {
      fmt::print(stderr,
                 "reaction: what is '{}'? [--letters N] [--seconds S] [--phases ROUNDS] "
                 "[--json]\n",
                 words[i]);
      std::exit(2);
    }
  }
  return chosen;
}

}  // namespace

int main(int count, char** words) {
  const auto chosen = read_options(count, words);
  running e;
  const int cores = e.machine->usable_processors();
  if (!chosen.json) {
    fmt::print("{} processors", cores);
    for (const auto* one : base::tunable::all())
      if (one->origin() == std::string_view("environment"))
        fmt::print(" {}={}", one->name(), one->value_text());
    fmt::print("\n");
    print_head();
  }
  if (chosen.phases > 0) {
    for (int i = 0; i < chosen.phases; ++i) {
      if (cores > 1) print(measure(e, "a core is spare", cores - 1, chosen), chosen.json);
      print(measure(e, "every core computes", cores, chosen), chosen.json);
    }
    return 0;
  }
  if (cores > 1) print(measure(e, "one core idle", cores - 1, chosen), chosen.json);
  for (const int threads : {1, 4, 16})
    print(measure(e, fmt::format("{} computing threads a core", threads), threads * cores, chosen),
          chosen.json);
}
