#include "endpoints/wire/remote_process.hpp"

#include "base/log.hpp"

namespace headway::endpoints {
namespace {

constexpr int lines_max = 8;

}  // namespace

void remote_process::complain(std::uint32_t peer, const char* what) noexcept {
  if (complaints.fetch_add(1, std::memory_order_relaxed) < lines_max)  // a number
    base::log(base::severity::error, "peer {} sent {}", peer, what);
}

void remote_process::lack_memory(std::uint32_t peer, std::uint64_t bytes) noexcept {
  if (complaints.fetch_add(1, std::memory_order_relaxed) < lines_max)  // a number
    base::log(base::severity::warning,
              "end-points: HEADWAY_ENDPOINT_MEMORY is used up, a message of {} bytes from peer {} "
              "waits until buffers are released",
              bytes, peer);
}

}  // namespace headway::endpoints
