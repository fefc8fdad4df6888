// oneTBB: work stealing, in an arena of as many threads as asked for.

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <memory>

#include "untouched.hpp"

namespace {

class binder : public tbb::task_scheduler_observer {
 public:
  explicit binder(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) { observe(true); }
  void on_scheduler_entry(bool) override {
    untouched::bind_self(static_cast<unsigned>(tbb::this_task_arena::current_thread_index()));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const untouched::shape chosen(argc, argv);
  const tbb::global_control most(tbb::global_control::max_allowed_parallelism, chosen.threads);
  tbb::task_arena arena(static_cast<int>(chosen.threads));
  return untouched::run(argc, argv, [&](untouched::arrival& message) {
    const std::unique_ptr<binder> bound(chosen.bound ? new binder(arena) : nullptr);
    arena.execute([&] {
      while (!message.over())
        tbb::parallel_for(0u, 8 * chosen.threads,
                          [](unsigned i) { untouched::piece_of_work(static_cast<double>(i)); });
    });
  });
}
