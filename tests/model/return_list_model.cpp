// Goal:   two processes push blocks while their owner takes all: each block comes out once, with
//         what its last holder wrote.
// Method: Relacy, random interleavings and weak memory.
// Mutations that fail here: (P) relaxed, (T) relaxed.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "endpoints/buffers/return_list.hpp"

namespace {

constexpr unsigned pushers = 2, each = 2, blocks = pushers * each;

struct return_list_model : rl::test_suite<return_list_model, pushers + 1> {
  headway::endpoints::basic_return_list<headway::model::atomic> list;
  std::uint64_t next[blocks + 1];
  rl::var<int> written[blocks + 1];
  int taken[blocks + 1];

  void before() {
    for (auto& t : taken) t = 0;
  }
  void take() {
    for (std::uint64_t place = list.take_all(); place != 0; place = next[place]) {
      RL_ASSERT(written[place]($) == static_cast<int>(place));
      ++taken[place];
    }
  }
  void thread(unsigned index) {
    if (index == pushers) {
      take();
      take();
      return;
    }
    for (unsigned i = 0; i < each; ++i) {
      const std::uint64_t place = 1 + index * each + i;
      written[place]($) = static_cast<int>(place);
      list.push(place, [&](std::uint64_t newest) { next[place] = newest; });
    }
  }
  void after() {
    take();
    for (unsigned place = 1; place <= blocks; ++place) RL_ASSERT(taken[place] == 1);
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 30000;
  return rl::simulate<return_list_model>(params) ? 0 : 1;
}
