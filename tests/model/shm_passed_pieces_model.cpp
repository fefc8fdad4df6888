// Goal:   pieces of large payloads that go in both directions at the same time arrive whole, also
//         where the two processes exchange the buffers in which they lie, and one thread of a
//         process fills buffers while another one empties them.
// Method: Relacy, random interleavings and weak memory; what the buffers hold is in variables that
//         Relacy watches for races. A line and a spare buffer for each direction. Process A has a
//         thread that fills and one that empties, process B one for both, in turns.
// Mutations that fail here: (P) (C) (F) (O) of pieces.hpp relaxed, `lock_` never taken, `read` that
// keeps the buffer but leaves its name in the line, the side of a name not turned round in `find`.

#include <array>

#include "relacy_atomic.hpp"
// After it, because they name the memory orders.
#include "rails/shm/passed_pieces.hpp"
#include "rails/shm/pieces.hpp"

namespace {

namespace shm = headway::rails::shm;

constexpr std::uint64_t piece_count = 4;
constexpr std::uint32_t buffers_of_segment = 2;  // that of the line, and the spare one

struct shm_passed_pieces_model : rl::test_suite<shm_passed_pieces_model, 3> {
  using end = shm::passed_pieces<headway::model::atomic>;

  struct line {
    headway::model::atomic<std::uint64_t> turn;
    rl::var<end::name> name;
  };
  end a, b;
  line to_a, to_b;
  std::array<std::byte, 2 * buffers_of_segment> segments;  // of A, then of B
  std::array<rl::var<unsigned>, 2 * buffers_of_segment> contents;

  end::area segment(std::size_t which) {
    return {.begin = segments.data() + which * buffers_of_segment,
            .piece_bytes = 1,
            .lines = 1,
            .spare = buffers_of_segment - 1};
  }
  void before() {
    for (auto* const l : {&to_a, &to_b}) {
      l->turn.store(0, std::memory_order_relaxed);
      l->name($) = 0;
    }
    for (auto& content : contents) content($) = 0;
    a.set_own(segment(0));
    a.set_peers(segment(1));
    b.set_own(segment(1));
    b.set_peers(segment(0));
  }
  rl::var<unsigned>& content(const std::byte* buffer) {
    return contents[static_cast<std::size_t>(buffer - segments.data())];
  }

  void fill(end& mine, line& to, std::uint64_t lap) {
    while (!shm::piece_is_free(to.turn, lap)) rl::yield(1, $);
    const end::name before = to.name($);
    const auto buffer = mine.fill(before, 0, true);
    content(buffer.at)($) = static_cast<unsigned>(lap);
    to.name($) = buffer.says;
    shm::fill_piece(to.turn, lap);
  }
  void empty(end& mine, line& from, std::uint64_t lap) {
    while (!shm::piece_is_full(from.turn, lap)) rl::yield(1, $);
    const end::name name = from.name($);
    const std::byte* const buffer = mine.find(name, 0);
    RL_ASSERT(buffer != nullptr);
    RL_ASSERT(content(buffer)($) == lap);
    const end::name after = mine.read(name, 0);
    from.name($) = after;
    shm::free_piece(from.turn, lap);
  }

  void thread(unsigned index) {
    for (std::uint64_t lap = 0; lap < piece_count; ++lap) {
      if (index != 1) fill(index == 0 ? a : b, index == 0 ? to_b : to_a, lap);
      if (index != 0) empty(index == 1 ? a : b, index == 1 ? to_a : to_b, lap);
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 30000;
  return rl::simulate<shm_passed_pieces_model>(params) ? 0 : 1;
}
