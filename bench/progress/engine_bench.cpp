// What the engine adds to a message: an empty round, a round over one reaping ltask, an ltask from
// submission to completion, and a wait that ends in its first round.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>

#include "progress/core/engine.hpp"
#include "topology/machine.hpp"

namespace {

using namespace headway;

struct running {
  explicit running(progress::polling points) {
    auto read = topology::machine::read();
    if (!read) std::abort();
    machine = std::move(*read);
    auto started = progress::engine::start(*machine, {.points = points});
    if (!started) std::abort();
    the = std::move(*started);
  }
  std::unique_ptr<topology::machine> machine;
  std::unique_ptr<progress::engine> the;
};

struct idle_task : progress::ltask {
  idle_task() : ltask("idle", [](ltask&) noexcept { return progress::ltask_result::idle; }) {}
};

struct completing_task : progress::ltask {
  explicit completing_task(progress::ltask_kind kind) : ltask("completing", &run, kind) {}
  static progress::ltask_result run(ltask& self) noexcept {
    static_cast<completing_task&>(self).ended.complete();
    return progress::ltask_result::done;
  }
  progress::completion ended;
};

void round_over_empty_queues(benchmark::State& state) {
  running e(progress::polling::off);
  for (auto _ : state) benchmark::DoNotOptimize(e.the->poll());
}
BENCHMARK(round_over_empty_queues);

void round_over_one_ltask(benchmark::State& state) {
  running e(progress::polling::off);
  idle_task task;
  e.the->submit(task);
  for (auto _ : state) benchmark::DoNotOptimize(e.the->poll());
  e.the->cancel(task);
}
BENCHMARK(round_over_one_ltask);

void submit_run_complete(benchmark::State& state, progress::ltask_kind kind) {
  running e(progress::polling::off);
  completing_task task(kind);
  for (auto _ : state) {
    task.ended.reset();
    e.the->submit(task);
    e.the->wait(task.ended);
  }
}
BENCHMARK_CAPTURE(submit_run_complete, repeat, progress::ltask_kind::repeat);
BENCHMARK_CAPTURE(submit_run_complete, one_shot, progress::ltask_kind::one_shot);

void start_and_stop(benchmark::State& state) {
  auto machine = topology::machine::read();
  if (!machine) std::abort();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        progress::engine::start(**machine, {.points = progress::polling::automatic}));
}
BENCHMARK(start_and_stop);

void read_machine(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(topology::machine::read());
}
BENCHMARK(read_machine);

}  // namespace

BENCHMARK_MAIN();
