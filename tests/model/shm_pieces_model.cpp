// Goal:   every piece of a large payload arrives once and whole, whichever end copies it, and the
//         sender reuses its memory only after the last was read.
// Method: Relacy. Three pieces, one buffer: the sender pushes what it claims, the receiver empties
//         the buffer and, where it is empty, claims and reads a piece itself. When all are pushed
//         or pulled the sender writes its memory again.
// Mutations that fail here: (P) (C) (F) (O) (R) (D) relaxed, (K) load and store in two steps.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "rails/shm/pieces.hpp"

namespace {

namespace shm = headway::rails::shm;

constexpr std::uint32_t piece_count = 3;
constexpr std::uint32_t number = 7;

struct shm_pieces_model : rl::test_suite<shm_pieces_model, 2> {
  rl::var<int> payload[piece_count];  // the sender's memory
  rl::var<int> buffer_data;
  rl::var<int> buffer_piece;
  headway::model::atomic<std::uint64_t> turn, claim, pulled;
  int copies[piece_count] = {};  // by either end; Relacy runs one thread at a time

  void before() {
    turn.store(0, std::memory_order_relaxed);
    claim.store(std::uint64_t{number} << 32, std::memory_order_relaxed);
    pulled.store(0, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < piece_count; ++i) payload[i]($) = static_cast<int>(100 + i);
  }

  void thread(unsigned index) { index == 0 ? send() : receive(); }

  void send() {
    std::uint64_t pushed = 0;
    std::uint64_t lap = 0;
    rl::linear_backoff wait;
    while (pushed + shm::pulled_bytes(pulled) < piece_count) {
      std::uint32_t piece = 0;
      if (!shm::piece_is_free(turn, lap) ||
          shm::claim_pieces(claim, number, piece_count, 1, piece) == 0) {
        wait.yield($);
        continue;
      }
      buffer_piece($) = static_cast<int>(piece);
      buffer_data($) = payload[piece]($);
      shm::fill_piece(turn, lap++);
      ++pushed;
    }
    for (auto& p : payload) p($) = -1;  // the program's again
  }

  void receive() {
    std::uint64_t lap = 0;
    rl::linear_backoff wait;
    for (std::uint32_t landed = 0; landed < piece_count;) {
      std::uint32_t piece = 0;
      if (shm::piece_is_full(turn, lap)) {
        piece = static_cast<std::uint32_t>(buffer_piece($));
        RL_ASSERT(buffer_data($) == static_cast<int>(100 + piece));
        shm::free_piece(turn, lap++);
      } else if (shm::claim_pieces(claim, number, piece_count, 1, piece) != 0) {
        RL_ASSERT(payload[piece]($) == static_cast<int>(100 + piece));
        shm::count_pulled(pulled, 1);
      } else {
        wait.yield($);
        continue;
      }
      ++copies[piece];
      ++landed;
    }
  }

  void after() {
    for (const int c : copies) RL_ASSERT(c == 1);
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 50000;
  return rl::simulate<shm_pieces_model>(params) ? 0 : 1;
}
