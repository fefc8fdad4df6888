// Goal:   in each of four exchanges every rank reads the values that all ranks have shown in it.
// Method: Relacy, random interleavings and weak memory, three ranks. The values are variables that
//         Relacy watches for races.
// Mutations that fail here: (P) relaxed, (A) relaxed, one line instead of two.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "collectives/basic_notice.hpp"

namespace {

constexpr unsigned ranks = 3;
constexpr std::uint64_t exchanges = 4;

using notice =
    headway::collectives::basic_notice<headway::model::atomic<std::uint64_t>, rl::var<unsigned>>;
using headway::collectives::notice_lines;
using headway::collectives::notice_of;

struct notice_model : rl::test_suite<notice_model, ranks> {
  notice lines[ranks][notice_lines];

  void before() {
    for (auto& of_rank : lines)
      for (auto& line : of_rank) line.number.store(0, std::memory_order_relaxed);
  }

  static unsigned value(unsigned rank, std::uint64_t n) {
    return static_cast<unsigned>(n) * 10 + rank;
  }

  void thread(unsigned me) {
    for (std::uint64_t n = 1; n <= exchanges; ++n) {
      notice& own = notice_of(lines[me], n);
      own.value($) = value(me, n);
      own.publish(n);
      for (unsigned rank = 0; rank < ranks; ++rank)
        while (!notice_of(lines[rank], n).holds(n)) rl::yield(1, $);
      for (unsigned rank = 0; rank < ranks; ++rank)
        RL_ASSERT(notice_of(lines[rank], n).value($) == value(rank, n));
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  return rl::simulate<notice_model>(params) ? 0 : 1;
}
