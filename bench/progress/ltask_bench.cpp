// The time of an ltask of headway/progress.h from submission to completion: alone, and with several
// submitters whose ltasks must run in the order of submission. For comparison, the time of the same
// number of locked instructions. Built once for each flavour.

#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>

#include "headway/progress.h"

namespace {

headway_ltask_attributes attributes(headway_ltask_run run, void* argument,
                                    headway_ltask_kind kind) {
  headway_ltask_attributes a = HEADWAY_LTASK_ATTRIBUTES;
  a.run = run;
  a.argument = argument;
  a.kind = kind;
  return a;
}

void start() {
  headway_progress_options o = HEADWAY_PROGRESS_OPTIONS;
  o.points_from_user = 0;
  if (headway_progress_start(&o) != HEADWAY_PROGRESS_OK) std::abort();
}

void submit_run_wait(benchmark::State& state, headway_ltask_kind kind) {
  start();
  headway_ltask task;
  const auto a =
      attributes([](headway_ltask*, void*) { return HEADWAY_LTASK_DONE; }, nullptr, kind);
  headway_ltask_init(&task, &a);
  for (auto _ : state) {
    headway_ltask_submit(&task);
    headway_ltask_wait(&task);
  }
  headway_progress_stop();
}
BENCHMARK_CAPTURE(submit_run_wait, one_shot, HEADWAY_LTASK_ONE_SHOT);
BENCHMARK_CAPTURE(submit_run_wait, repeat, HEADWAY_LTASK_REPEAT);

/// Push, mask, completion: each on a separate cache line that this core holds.
void three_locked_instructions(benchmark::State& state) {
  struct alignas(64) line {
    std::atomic<std::uint64_t> word{0};
  };
  std::array<line, 3> lines;
  std::uint64_t value = 0;
  for (auto _ : state)
    for (auto& one : lines) value += one.word.exchange(value, std::memory_order_seq_cst);
  benchmark::DoNotOptimize(value);
}
BENCHMARK(three_locked_instructions);

/// One submitter's ltasks, each with its number; `next` is what must run now.
struct stream {
  static constexpr std::size_t batch = 256;
  struct numbered {
    headway_ltask task;
    stream* of;
    std::size_t number;
  };
  std::array<numbered, batch> all;
  std::size_t next = 0;

  stream() {
    for (std::size_t i = 0; i < batch; ++i) {
      all[i].of = this;
      all[i].number = i;
      const auto a = attributes(
          [](headway_ltask*, void* argument) {
            auto& me = *static_cast<numbered*>(argument);
            if (me.of->next != me.number) std::abort();  // out of order
            me.of->next = (me.number + 1) % batch;
            return HEADWAY_LTASK_DONE;
          },
          &all[i], HEADWAY_LTASK_ONE_SHOT);
      headway_ltask_init(&all[i].task, &a);
    }
  }
};

void submitters_in_order(benchmark::State& state) {
  start();
  {
    const auto mine = std::make_unique<stream>();
    for (auto _ : state) {
      for (auto& one : mine->all) headway_ltask_submit(&one.task);
      headway_ltask_wait(&mine->all.back().task);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stream::batch));
  }
  headway_progress_stop();
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("submitters_in_order", submitters_in_order)->UseRealTime();
  if (headway_progress_flavour()[0] == 't')  // "threads"
    for (const int threads : {2, 4})
      benchmark::RegisterBenchmark("submitters_in_order", submitters_in_order)
          ->Threads(threads)
          ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
