// Goal:   a sender writes at a target only between its lending and its being taken back, and the
//         receiver finds there what a full buffer says is there.
// Method: Relacy. The receiver writes its memory, lends it, and after some looks either finds the
//         piece or takes the target back; then it writes its memory again.
// Mutations that fail here: (G) (P) (C) (E) relaxed, (W) (V) (V') (W') acquire and release only.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "rails/shm/pieces.hpp"

namespace {

namespace shm = headway::rails::shm;

constexpr int looks = 3;

struct shm_placing_model : rl::test_suite<shm_placing_model, 2> {
  rl::var<int> memory;  // the receiver's, lent
  headway::model::atomic<std::uint64_t> target, turn;
  headway::model::atomic<std::uint32_t> placing, revoked;

  void before() {
    target.store(0, std::memory_order_relaxed);
    turn.store(0, std::memory_order_relaxed);
    placing.store(0, std::memory_order_relaxed);
    revoked.store(0, std::memory_order_relaxed);
  }

  void thread(unsigned index) { index == 0 ? send() : receive(); }

  void send() {
    for (int i = 0; i < looks; ++i) {
      if (target.load(std::memory_order_acquire) == 0) continue;  // (G)
      if (!shm::begin_placing(placing, revoked)) return;
      memory($) = 7;
      shm::end_placing(placing);
      return shm::fill_piece(turn, 0);
    }
  }

  void receive() {
    memory($) = 1;
    target.store(1, std::memory_order_release);  // (G)
    for (int i = 0; i < looks; ++i) {
      if (!shm::piece_is_full(turn, 0)) continue;
      RL_ASSERT(memory($) == 7);
      memory($) = 2;
      return;
    }
    shm::revoke_targets(revoked);
    rl::linear_backoff wait;
    while (shm::is_placing(placing)) wait.yield($);
    memory($) = 2;
  }

  void after() { RL_ASSERT(memory($) == 2); }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<shm_placing_model>(params) ? 0 : 1;
}
