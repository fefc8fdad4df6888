// Goal:   records of one and two lines arrive whole, once and in order through a ring of four lines
//         that wraps and is full most of the time.
// Method: Relacy, random interleavings and weak memory. The payload is in variables that Relacy
//         watches for races; bytes of a payload where a later record's word will be are not zero,
//         as in life.
// Mutations that fail here: (P) relaxed, (A) relaxed, (Z) left out, (F) relaxed, (O) relaxed,
// reserve without its extra line (a livelock).

#include "relacy_atomic.hpp"
// After it, because it names the memory orders.
#include "rails/shm/ring.hpp"

namespace {

constexpr std::uint64_t line_count = 8;
constexpr std::uint64_t skip_word = 1000;
constexpr int record_count = 7;

struct shared_lines {
  headway::model::atomic<std::uint64_t> words[line_count];
  rl::var<std::uint64_t> bytes[line_count];
  headway::model::atomic<std::uint64_t> consumed;
  headway::model::atomic<std::uint32_t> wants_room;
};

struct model_memory {
  shared_lines* lines = nullptr;
  std::uint64_t line_count() const { return ::line_count; }
  auto& word(std::uint64_t position) const { return lines->words[position % ::line_count]; }
  auto& consumed() const { return lines->consumed; }
  auto& wants_room() const { return lines->wants_room; }
};

/// Records 1, 2, 3 … have 1, 2, 3, 1, 2, 3 … lines.
std::uint64_t lines_of(int record) { return 1 + static_cast<std::uint64_t>(record - 1) % 3; }

struct shm_ring_model : rl::test_suite<shm_ring_model, 2> {
  shared_lines lines;
  headway::rails::shm::ring_writer<model_memory> writer;
  headway::rails::shm::ring_reader<model_memory, headway::model::atomic> reader;

  void before() {
    for (auto& w : lines.words) w.store(0, std::memory_order_relaxed);
    for (auto& b : lines.bytes) b($) = 0;
    lines.consumed.store(0, std::memory_order_relaxed);
    lines.wants_room.store(0, std::memory_order_relaxed);
    writer = headway::rails::shm::ring_writer<model_memory>(model_memory{&lines});
    std::destroy_at(&reader);
    std::construct_at(&reader, model_memory{&lines});
  }

  void write() {
    for (int record = 1; record <= record_count; ++record) {
      const std::uint64_t size = lines_of(record);
      while (!writer.reserve(size)) rl::yield(1, $);
      writer.begin(size);
      for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t at = writer.position() + i;
        lines.bytes[at % line_count]($) = static_cast<std::uint64_t>(record);
        if (i > 0) lines.words[at % line_count].store(77, std::memory_order_relaxed);
      }
      writer.publish(size, static_cast<std::uint64_t>(record), skip_word);
    }
  }

  void read() {
    for (int record = 1; record <= record_count;) {
      const std::uint64_t word = reader.peek();
      if (word == 0) {
        rl::yield(1, $);
      } else if (word == skip_word) {
        const std::uint64_t rest = reader.lines_to_end();
        reader.advance(rest);
        (void)reader.give_back(rest);
      } else {
        RL_ASSERT(word == static_cast<std::uint64_t>(record));
        const std::uint64_t size = lines_of(record), at = reader.position();
        reader.advance(size);
        for (std::uint64_t i = 0; i < size; ++i)
          RL_ASSERT(lines.bytes[(at + i) % line_count]($) == static_cast<std::uint64_t>(record));
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
