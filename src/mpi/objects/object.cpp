#include "mpi/objects/object.hpp"

#include <array>

#include "base/assert.hpp"
#include "base/lock_guard.hpp"
#include "base/mutex.hpp"
#include "base/thread_annotations.hpp"
#include "mpi/objects/numbered.hpp"

constinit std::atomic<headway::mpi::object*> headway_numbered[headway::mpi::numbered_count] = {};

namespace headway::mpi {
namespace {

// The number of a handle, for another language: predefined_end + place * 64 + the handle's low
// bits. A place stands for a piece of a pool's memory, which is never returned to the system; it is
// taken when an object there is numbered for the first time. So a number tells a freed object from
// the one that has its memory now as well as a handle does.
//
// Hazard, and the edges that remove it: another thread finds a place or a chunk without its entry.
//   (P) an object's place is stored after the table's entry, and loaded before it
//   (C) a chunk is stored after it was filled with null
class number_table {
 public:
  static constexpr std::size_t chunk_places = numbered_count;
  static constexpr std::size_t chunks_max = 8192;  // numbers are positive ints

  /// Takes a place for the memory of `what`, and stores it in `place`, if it has none yet. Returns
  /// what is stored there.
  [[gnu::noinline, gnu::cold]] std::uint32_t add(object& what, std::atomic<std::uint32_t>& place) {
    const base::lock_guard held(lock_);
    const auto known = place.load(std::memory_order_relaxed);  // stored under this lock
    if (known != 0) return known;
    const std::size_t at = used_++;
    HEADWAY_ASSERT(at < chunk_places * chunks_max);
    if (at < numbered_count) {
      headway_numbered[at].store(&what, std::memory_order_relaxed);  // ordered by (P)
    } else {
      auto& chunk = chunks_[at / chunk_places];
      if (at % chunk_places == 0) chunk.store(new entries{}, std::memory_order_release);  // (C)
      (*chunk.load(std::memory_order_relaxed))[at % chunk_places].store(  // stored under this lock
          &what, std::memory_order_relaxed);                              // ordered by (P)
    }
    const auto made = static_cast<std::uint32_t>(at + 1);
    place.store(made, std::memory_order_release);  // (P)
    return made;
  }

  /// The object whose memory has this place, or null.
  [[nodiscard]] object* at(std::size_t place) const noexcept {
    if (place < numbered_count) [[likely]]
      return headway_numbered[place].load(std::memory_order_relaxed);  // ordered by (P)
    if (place >= chunk_places * chunks_max) return nullptr;
    const auto* chunk = chunks_[place / chunk_places].load(std::memory_order_acquire);  // (C)
    if (chunk == nullptr) return nullptr;
    return (*chunk)[place % chunk_places].load(std::memory_order_relaxed);  // ordered by (P)
  }

 private:
  using entries = std::array<std::atomic<object*>, chunk_places>;

  base::mutex lock_;
  std::size_t used_ HEADWAY_GUARDED_BY(lock_) = 0;
  // The first chunk is `headway_numbered`, and most programs have no other.
  std::array<std::atomic<entries*>, chunks_max> chunks_{};
};

constinit number_table numbers;

}  // namespace

constinit object* predefined[predefined_end] = {};

const char* kind_name(object_kind kind) noexcept {
  switch (kind) {
    case object_kind::comm:
      return "communicator";
    case object_kind::group:
      return "group";
    case object_kind::type:
      return "datatype";
    case object_kind::op:
      return "operation";
    case object_kind::info:
      return "info object";
    case object_kind::errhandler:
      return "error handler";
    case object_kind::request:
      return "request";
    case object_kind::message:
      return "message";
    case object_kind::session:
      return "session";
    case object_kind::win:
      return "window";
    case object_kind::file:
      return "file";
    case object_kind::none:
    case object_kind::placeholder:
      break;
  }
  return "object";
}

void define(object& what, object_kind kind, std::uintptr_t value) noexcept {
  HEADWAY_ASSERT(value < predefined_end);
  what.become(kind, value);
  predefined[value] = &what;
}

void undefine(object& what) noexcept {
  if (what.is_predefined()) predefined[what.bits()] = nullptr;
  what.retire();
}

int number_of(object& what) {
  if (what.is_predefined()) return static_cast<int>(what.bits());
  auto place = what.place_.load(std::memory_order_acquire);  // (P)
  if (place == 0) [[unlikely]]
    place = numbers.add(what, what.place_);
  return static_cast<int>(predefined_end + (place - 1) * object_alignment +
                          what.bits() % object_alignment);
}

std::uintptr_t bits_numbered(int number) noexcept {
  if (number < 0) return 0;
  const auto given = static_cast<std::uintptr_t>(number);
  if (given < predefined_end) return given;
  const auto* at = numbers.at((given - predefined_end) / object_alignment);
  if (at == nullptr) return 0;
  return reinterpret_cast<std::uintptr_t>(at) + given % object_alignment;
}

}  // namespace headway::mpi
