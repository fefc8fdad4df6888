// Goal:   two readers take every byte of two streams that a writer shows one after the other in one
//         bank of two places, both longer than the bank; no place is written while it is read.
// Method: Relacy, random interleavings and weak memory, three threads. Places and descriptions are
//         variables that Relacy watches for races.
// Mutations that fail here: (P), (A), (F), (R), (B) or (C) relaxed, at each of their places.

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "collectives/bank.hpp"

namespace {

constexpr unsigned readers = 2;
constexpr std::uint64_t places = 2;
constexpr std::uint64_t lengths[] = {3, 3};  // of the two streams
constexpr std::uint64_t line_used = 0;

using number = headway::model::atomic<std::uint64_t>;
using line = headway::collectives::basic_bank_line<number, rl::var<unsigned>>;
using reading = headway::collectives::basic_reading<number, 1>;

unsigned content(std::uint64_t exchange, std::uint64_t place) {
  return static_cast<unsigned>(exchange * 10 + place);
}

struct bank_model : rl::test_suite<bank_model, readers + 1> {
  line shown;
  reading by[readers];
  rl::var<unsigned> bank[places];

  void before() {
    shown.number.store(0, std::memory_order_relaxed);
    shown.ready.store(0, std::memory_order_relaxed);
    for (auto& each : by) {
      each.last.store(0, std::memory_order_relaxed);
      for (auto& n : each.number) n.store(0, std::memory_order_relaxed);
      for (auto& n : each.taken) n[0].store(0, std::memory_order_relaxed);
    }
  }

  bool may_write(std::uint64_t exchange, std::uint64_t at) {
    for (auto& each : by) {
      if (exchange > 1 && each.finished() < exchange - 1) return false;
      const bool all = each.finished() >= exchange;
      if (at >= places && !all && each.taken_of(line_used, 0, exchange) <= at - places)
        return false;
    }
    return true;
  }

  void write(std::uint64_t exchange) {
    for (std::uint64_t at = 0; at < lengths[exchange - 1]; ++at) {
      while (!may_write(exchange, at)) rl::yield(1, $);
      bank[at % places]($) = content(exchange, at);
      if (at > 0) {
        shown.extend(at + 1);
      } else {
        shown.value($) = content(exchange, 9);
        shown.publish(exchange, 1);
      }
    }
  }

  void read(reading& own, std::uint64_t exchange) {
    while (!shown.holds(exchange)) rl::yield(1, $);
    RL_ASSERT(shown.value($) == content(exchange, 9));
    own.begin(line_used, exchange);
    for (std::uint64_t at = 0; at < lengths[exchange - 1]; ++at) {
      while (shown.bytes_ready() <= at) rl::yield(1, $);
      RL_ASSERT(bank[at % places]($) == content(exchange, at));
      own.take(line_used, 0, at + 1);
    }
    own.finish(exchange);
  }

  void thread(unsigned me) {
    for (std::uint64_t exchange = 1; exchange <= 2; ++exchange) {
      if (me == 0) write(exchange);
      else read(by[me - 1], exchange);
    }
  }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 20000;
  return rl::simulate<bank_model>(params) ? 0 : 1;
}
