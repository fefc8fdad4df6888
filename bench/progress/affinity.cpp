/// What it costs that another core polls (thread09, figure 8): a thread on one core submits an
/// ltask and waits until it has run, while the poller is itself, or a thread on another core.
#include <cstdio>
#include <thread>

#include "base/clock.hpp"
#include "progress/core/engine.hpp"
#include "topology/machine.hpp"

extern "C" {
#include "bench/mpi/measure.h"
#include "bench/mpi/options.h"
#include "bench/mpi/table.h"
}

namespace {

using namespace headway;

struct measured_task : progress::ltask {
  measured_task() : ltask("measured", &measured_task::run, progress::ltask_kind::one_shot) {}
  static progress::ltask_result run(ltask& self) noexcept {
    static_cast<measured_task&>(self).finished.complete();
    return progress::ltask_result::done;
  }
  progress::completion finished;
};

constexpr int warm_up = 1000;

/// One task, from its submission to the moment when its submitter sees that it is done.
double once_ns(progress::engine& engine, bool polls_itself) {
  measured_task task;
  const auto start = base::machine_now_ns();
  engine.submit(task);
  while (!task.finished.test())
    if (polls_itself) engine.poll();
  return static_cast<double>(base::machine_now_ns() - start);
}

summary measure(progress::engine& engine, bool polls_itself, int count) {
  samples all{};
  for (int i = 0; i < warm_up; ++i) once_ns(engine, polls_itself);
  for (int i = 0; i < count; ++i) samples_add(&all, once_ns(engine, polls_itself));
  const auto found = summarise(&all);
  samples_free(&all);
  return found;
}

void report(table& rows, progress::engine& engine, int poller, int count) {
  base::atomic<bool> stop{false};  // relaxed: it carries nothing
  std::thread other;
  if (poller != 0)
    other = std::thread([&] {
      pin_to_core(poller);
      while (!stop.load(std::memory_order_relaxed)) engine.poll();
    });
  const auto s = measure(engine, poller == 0, count);
  stop.store(true, std::memory_order_relaxed);
  if (other.joinable()) other.join();
  const double row[] = {static_cast<double>(poller), s.median, s.mean, s.best, s.p99};
  table_row(&rows, nullptr, row);
}

}  // namespace

int main(int argc, char** argv) {
  double count = 20000;
  const char* csv = nullptr;
  const option own[] = {{"--iterations", option_number, &count, "tasks for each poller"},
                        {"--csv", option_text, &csv, "also write the table to this file"},
                        {nullptr, option_flag, nullptr, nullptr}};
  const option none[] = {{nullptr, option_flag, nullptr, nullptr}};
  options_read("affinity: what it costs that another core polls.", none, own, argc, argv);
  const auto machine = topology::machine::read();
  if (!machine) {
    std::fprintf(stderr, "affinity: %s\n", machine.error().text.c_str());
    return 1;
  }
  const auto engine = progress::engine::start(**machine, {.points = progress::polling::off});
  if (!engine) return 1;
  pin_to_core(0);
  const column columns[] = {
      {"poller", 0}, {"median_ns", 1}, {"mean_ns", 1}, {"best_ns", 1}, {"p99_ns", 1}};
  table rows{};
  table_open(&rows, nullptr, columns, 5, false);
  for (int poller = 0; poller < usable_cores(); ++poller)
    report(rows, **engine, poller, static_cast<int>(count));
  return table_close(&rows, csv) ? 0 : 1;
}
