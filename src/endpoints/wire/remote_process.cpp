#include "endpoints/wire/remote_process.hpp"

#include "base/log.hpp"

namespace headway::endpoints {

void remote_process::complain(std::uint32_t rank, const char* what) noexcept {
  constexpr int lines_max = 8;
  if (complaints.fetch_add(1, std::memory_order_relaxed) < lines_max)  // a number
    base::log(base::severity::error, "rank {} sent {}", rank, what);
}

void remote_process::lack_memory(std::uint32_t rank, std::uint64_t bytes) noexcept {
  constexpr int lines_max = 64;
  if (complaints.fetch_add(1, std::memory_order_relaxed) < lines_max)  // a number
    base::log(base::severity::error,
              "end-points: no memory, a message of {} bytes from rank {} is lost", bytes, rank);
}

}  // namespace headway::endpoints
