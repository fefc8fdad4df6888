#include "mpi/communicators/incarnations.hpp"

#include <atomic>

#include "messages/numbers.hpp"
#include "mpi/environment/library.hpp"

namespace headway::mpi {
namespace {

// Of agreements that this process has begun or knows of. Relaxed: the number is the only thing that
// is shared; a thread that begins an agreement on a communicator has noted that one's.
constinit std::atomic<std::uint64_t> last{0};

}  // namespace

std::uint64_t new_incarnation() noexcept {
  const auto count = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return count << messages::rank_bits | static_cast<std::uint64_t>(the_library.runtime->rank());
}

void note_incarnation(std::uint64_t chosen) noexcept {
  const auto count = chosen >> messages::rank_bits;
  auto known = last.load(std::memory_order_relaxed);
  while (known < count && !last.compare_exchange_weak(known, count, std::memory_order_relaxed)) {
  }
}

}  // namespace headway::mpi
