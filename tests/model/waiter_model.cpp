// Goal:   a thread that waits for any of two completions, then for the other one, is woken each
//         time, sees the result, and may free each at once; signals that come late do no harm.
// Method: Relacy, random interleavings and weak memory; a forgotten wake-up is a deadlock, a touch
//         of a freed word an error.
// Mutations that fail here: (F) without its acquire or release, (T) relaxed, (E) without release,
//         (S) without acquire or release, (D) relaxed, (G) relaxed or a store.

#include <optional>

#include "futex.hpp"
// After it, because they name the memory orders.
#include "progress/completion/completion_word.hpp"
#include "progress/completion/wake_word.hpp"

namespace {

using headway::progress::sleep_state;

struct alignas(4) waiter {
  headway::progress::basic_wake_word<headway::model::atomic> word;
  headway::model::atomic<int> sleeps_at{0};  // set before `begin_sleep`, read by the signaller
};
using completion_word = headway::progress::basic_completion_word<waiter, headway::model::atomic>;

struct waiter_model : rl::test_suite<waiter_model, 3> {
  waiter self;
  std::optional<completion_word> words[2];  // a touch of one that is gone breaks its signature
  rl::var<int> results[2];
  rl::var<int> born;  // the rest of the waiter, made before it enlists

  void before() {
    for (auto& w : words) w.emplace();
  }

  /// progress/completion/completion.cpp, `complete`, outside a round.
  void complete(unsigned index) {
    results[index]($) = 1;
    waiter* sleeper = words[index]->finish().first;
    if (!sleeper) return;
    RL_ASSERT(born($) == 1);
    const auto was = sleeper->word.signal();
    if (was != sleep_state::on_futex) return;
    RL_ASSERT(sleeper->sleeps_at.load(std::memory_order_relaxed) == 7);
    headway::model::futex_wake(sleeper->word.futex_word(), 1);
  }

  [[nodiscard]] int done(bool (&open)[2]) {
    for (int i = 0; i < 2; ++i)
      if (open[i] && words[i]->done()) return i;
    return -1;
  }
  bool enlist(bool (&open)[2]) {
    for (int i = 0; i < 2; ++i)
      if (open[i] && words[i]->enlist(self) == completion_word::enlisting::done) return false;
    return true;
  }
  /// progress/waiting/waiting.cpp, `follow`.
  int wait_any(bool (&open)[2]) {
    for (bool sleeps = enlist(open); sleeps;) {
      self.sleeps_at.store(7, std::memory_order_relaxed);
      if (self.word.begin_sleep(sleep_state::on_futex)) {
        headway::model::futex_wait(self.word.futex_word(),
                                   static_cast<std::uint32_t>(sleep_state::on_futex));
        self.word.end_sleep();
      }
      if (done(open) >= 0) break;
    }
    for (int i = 0; i < 2; ++i)
      if (open[i]) words[i]->leave(self);
    return done(open);
  }

  void thread(unsigned index) {
    if (index < 2) return complete(index);
    bool open[2] = {true, true};
    born($) = 1;
    for (int i = 0; i < 2; ++i) {
      const int which = wait_any(open);
      RL_ASSERT(which >= 0);
      RL_ASSERT(results[which]($) == 1);
      open[which] = false;
      words[which].reset();
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<waiter_model>(params) ? 0 : 1;
}
