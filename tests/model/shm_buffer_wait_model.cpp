// Goal:   a sender that sleeps because the buffer is full wakes when the receiver frees it.
// Method: Relacy. Three pieces, one buffer. The sender sleeps where it finds the buffer full, the
//         receiver wakes it where it has said so; a missing wake-up is a deadlock.
// Mutations that fail here: (Q) relaxed, (O') relaxed, (F) release, (N) relaxed; no look after (Q).

#include "futex.hpp"
// After it, because it names the memory orders.
#include "rails/shm/pieces.hpp"

namespace {

namespace shm = headway::rails::shm;
namespace model = headway::model;

constexpr std::uint64_t piece_count = 3;

struct shm_buffer_wait_model : rl::test_suite<shm_buffer_wait_model, 2> {
  rl::var<int> buffer;
  model::atomic<std::uint64_t> turn;
  model::atomic<std::uint32_t> wants;
  rl::atomic<unsigned> rings;  // of the sender's bell, which is armed all the time

  void before() {
    turn.store(0, std::memory_order_relaxed);
    wants.store(0, std::memory_order_relaxed);
    rings.store(0, std::memory_order_relaxed);
  }

  void thread(unsigned index) { index == 0 ? send() : receive(); }

  void send() {
    for (std::uint64_t lap = 0; lap < piece_count; ++lap) {
      while (true) {
        const unsigned heard = rings.load(std::memory_order_acquire);
        if (shm::piece_is_free(turn, lap) || shm::is_free_or_wanted(wants, turn, lap)) break;
        model::futex_wait(rings, heard);
      }
      buffer($) = static_cast<int>(lap);
      shm::fill_piece(turn, lap);
    }
    wants.store(0, std::memory_order_relaxed);
  }

  void receive() {
    rl::linear_backoff wait;
    for (std::uint64_t lap = 0; lap < piece_count; ++lap) {
      while (!shm::piece_is_full(turn, lap)) wait.yield($);
      RL_ASSERT(buffer($) == static_cast<int>(lap));
      shm::free_piece(turn, lap);
      if (!shm::piece_is_wanted(wants)) continue;
      rings.fetch_add(1, std::memory_order_acq_rel);
      model::futex_wake(rings, 1);
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<shm_buffer_wait_model>(params) ? 0 : 1;
}
