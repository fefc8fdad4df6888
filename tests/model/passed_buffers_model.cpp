// Goal:   two processes pass two buffers to each other with records: what a record says lies in a
//         buffer is there, and is read before anything else is written there, also where one thread
//         of a process sends and another one reads.
// Method: Relacy, random interleavings and weak memory; what the buffers hold is in variables that
//         Relacy watches for races. Process A has a thread that sends and one that reads, process B
//         one for both, which answers each record.
// Mutations that fail here: (H) relaxed, (T) relaxed, `take` that leaves the buffer, `side_of` the
// other way round.

#include <array>

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "rails/passed_buffers.hpp"

namespace {

using headway::rails::passed_place;

constexpr int record_count = 4;
constexpr unsigned answers_from = 100;

struct passed_buffers_model : rl::test_suite<passed_buffers_model, 3> {
  using end = headway::rails::passed_buffers<headway::model::atomic>;
  /// 1 + the place; 0: no record yet.
  using words = std::array<headway::model::atomic<unsigned>, record_count>;

  end a, b;
  words to_a, to_b;
  std::array<std::byte, 2> names;  // stand for the buffers: in the segments of A and B
  std::array<rl::var<unsigned>, 2> contents;

  void before() {
    for (auto* const ring : {&to_a, &to_b})
      for (auto& word : *ring) word.store(0, std::memory_order_relaxed);
    for (auto& content : contents) content($) = 0;
    a.set_own(&names[0]);
    a.set_peers(&names[1]);
    b.set_own(&names[1]);
    b.set_peers(&names[0]);
  }

  rl::var<unsigned>& content(const std::byte* buffer) {
    return contents[static_cast<std::size_t>(buffer - names.data())];
  }
  void send(end& mine, words& ring, std::size_t number, unsigned what) {
    auto where = passed_place::none;
    if (const std::byte* const buffer = mine.take(where)) content(buffer)($) = what;
    ring[number].store(1 + static_cast<unsigned>(where), std::memory_order_release);  // (P)
  }
  void read(end& mine, words& ring, std::size_t number, unsigned expected) {
    unsigned word = 0;
    while ((word = ring[number].load(std::memory_order_acquire)) == 0) rl::yield(1, $);  // (A)
    const auto where = static_cast<passed_place>(word - 1);
    if (where == passed_place::none) return;
    const std::byte* const buffer = mine.find(where);
    RL_ASSERT(buffer != nullptr);
    RL_ASSERT(content(buffer)($) == expected);
    mine.read(where);
  }

  void thread(unsigned index) {
    for (unsigned i = 0; i < record_count; ++i) {
      if (index == 0) {
        send(a, to_b, i, i + 1);
      } else if (index == 1) {
        read(a, to_a, i, answers_from + i);
      } else {
        read(b, to_b, i, i + 1);
        send(b, to_a, i, answers_from + i);
      }
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 30000;
  return rl::simulate<passed_buffers_model>(params) ? 0 : 1;
}
