// Goal:   records of one cell and of whole lines arrive whole, once and in order through a ring of
//         four lines that wraps and is full most of the time.
// Method: Relacy, random interleavings and weak memory. The payload is in variables that Relacy
//         watches for races; bytes of a payload where a later record's word will be are not zero,
//         as in life.
// Mutations that fail here: (P) relaxed, (A) relaxed, (Z) left out, (F) relaxed, (O) relaxed,
// reserve without its extra cell, `owns` true for one cell more.

#include <array>

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "rails/shm/ring.hpp"

namespace {

constexpr std::uint64_t cell_count = 8;
constexpr std::uint64_t skip_word = 1000;  // and the number of cells
constexpr int record_count = 9;

struct shared_cells {
  headway::model::atomic<std::uint64_t> words[cell_count];
  rl::var<std::uint64_t> bytes[cell_count];
  headway::model::atomic<std::uint64_t> consumed;
  headway::model::atomic<std::uint32_t> wants_room;
};

struct model_memory {
  shared_cells* cells = nullptr;
  std::uint64_t cell_count() const { return ::cell_count; }
  auto& word(std::uint64_t position) const { return cells->words[position % ::cell_count]; }
  auto& consumed() const { return cells->consumed; }
  auto& wants_room() const { return cells->wants_room; }
};

/// Records 1, 2, 3 … have 1, 2, 3, 1, 2, 3 … cells.
std::uint64_t cells_of(int record) { return 1 + static_cast<std::uint64_t>(record - 1) % 3; }

struct shm_ring_model : rl::test_suite<shm_ring_model, 2> {
  shared_cells cells;
  headway::rails::shm::ring_writer<model_memory> writer;
  headway::rails::shm::ring_reader<model_memory, headway::model::atomic> reader;

  void before() {
    for (auto& w : cells.words) w.store(0, std::memory_order_relaxed);
    for (auto& b : cells.bytes) b($) = 0;
    cells.consumed.store(0, std::memory_order_relaxed);
    cells.wants_room.store(0, std::memory_order_relaxed);
    writer = headway::rails::shm::ring_writer<model_memory>(model_memory{&cells});
    std::destroy_at(&reader);
    std::construct_at(&reader, model_memory{&cells});
  }

  void write() {
    for (int record = 1; record <= record_count; ++record) {
      const std::uint64_t size = cells_of(record);
      while (!writer.reserve(size)) rl::yield(1, $);
      writer.begin(size);
      for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t at = writer.position() + i;
        cells.bytes[at % cell_count]($) = static_cast<std::uint64_t>(record);
        if (i > 0) cells.words[at % cell_count].store(77, std::memory_order_relaxed);
      }
      writer.publish(size, static_cast<std::uint64_t>(record), skip_word + writer.skipped());
      // No race with the reader: what the writer owns is not read any more.
      for (std::uint64_t at = writer.written(); writer.owns(at); ++at)
        cells.bytes[at % cell_count]($) = 0;
    }
  }

  void read() {
    for (int record = 1; record <= record_count;) {
      const std::uint64_t word = reader.peek();
      if (word == 0) {
        rl::yield(1, $);
      } else if (word > skip_word) {
        const std::uint64_t rest = word - skip_word;
        RL_ASSERT(rest <= reader.cells_to_end(reader.position()));
        reader.advance(rest);
        (void)reader.give_back(rest);
      } else {
        RL_ASSERT(word == static_cast<std::uint64_t>(record));
        const std::uint64_t size = cells_of(record), at = reader.position();
        RL_ASSERT(size == 1 || at % headway::rails::shm::cells_per_line == 0);
        reader.advance(size);
        for (std::uint64_t i = 0; i < size; ++i)
          RL_ASSERT(cells.bytes[(at + i) % cell_count]($) == static_cast<std::uint64_t>(record));
        (void)reader.give_back(size);
        ++record;
      }
    }
  }

  void thread(unsigned index) { index == 0 ? write() : read(); }
};

}  // namespace

int main() {
  rl::test_params params;
  params.iteration_count = 30000;
  return rl::simulate<shm_ring_model>(params) ? 0 : 1;
}
