// Goal:   a frame's memory is written again only when no driver reads it and the peer has it.
// Method: Relacy. A ring of two frames, each with a payload that Relacy watches. The sender sends
//         four frames, taking memory back as it becomes free; a driver reads each and lets go; the
//         peer, on another rail, reads each and acknowledges it.
// Mutations that fail here: (R), (F), (K), (G) relaxed; a frame taken back while `readers` is not 0
//         or before it is acknowledged.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "packets/bundle/replay_ring.hpp"

namespace {

constexpr std::uint32_t frames = 4;
constexpr std::size_t bytes = 64;

struct replay_ring_model : rl::test_suite<replay_ring_model, 3> {
  using ring_type = headway::packets::basic_replay_ring<headway::model::atomic, 2>;
  ring_type ring{2 * bytes};
  rl::var<std::uint32_t> payload[2];
  headway::model::atomic<std::uint32_t> sent;

  void before() { sent.store(0, std::memory_order_relaxed); }

  void thread(unsigned index) {
    if (index == 0) return send();
    receive(index == 1);
  }

  void send() {
    rl::linear_backoff wait;
    for (std::uint32_t n = 0; n < frames; ++n) {
      ring.reclaim();
      std::byte* memory = nullptr;
      while (!(memory = ring.reserve(bytes))) {
        wait.yield($);
        ring.reclaim();
      }
      payload[n % 2]($) = n;
      ring.commit(memory, bytes, 1);
      ring_type::hold(ring.at(n));
      sent.store(n + 1, std::memory_order_release);
    }
  }

  void receive(bool is_driver) {
    rl::linear_backoff wait;
    for (std::uint32_t n = 0; n < frames; ++n) {
      while (sent.load(std::memory_order_acquire) <= n) wait.yield($);
      RL_ASSERT(payload[n % 2]($) == n);
      if (is_driver) {
        ring_type::let_go(ring.at(n));
      } else {
        RL_ASSERT(ring.acknowledged(n + 1));
      }
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  return rl::simulate<replay_ring_model>(params) ? 0 : 1;
}
