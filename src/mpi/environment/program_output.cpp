#include "mpi/environment/program_output.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <thread>
#include <utility>
#include <vector>

namespace headway::mpi {

void flush_program_output() noexcept try {
  constexpr std::chrono::seconds wait_max{1};
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  std::vector<std::future<int>> ended;
  // One thread each: whichever of the two stands still holds up nothing else. The third flushes all
  // streams, and glibc begins with the one that was opened last.
  for (std::FILE* const stream : {stdout, stderr, static_cast<std::FILE*>(nullptr)}) {
    std::packaged_task<int()> flush([stream] { return std::fflush(stream); });
    ended.push_back(flush.get_future());
    std::thread(std::move(flush)).detach();
  }
  for (auto& each : ended) static_cast<void>(each.wait_until(deadline));
} catch (const std::exception&) {
  // No thread can be made, or there is no memory: the process ends all the same.
}

}  // namespace headway::mpi
