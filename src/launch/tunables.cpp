// The user's settings; settings.hpp has them as values.
#include "base/clock.hpp"
#include "base/tunable.hpp"
#include "launch/settings.hpp"

namespace headway::launch {
namespace {

// 60 s: enough for a cold start of hundreds of ranks from a slow file system, and short enough that
// the user still waits for the message.
base::number_tunable start_timeout{"HEADWAY_START_TIMEOUT",
                                   "s",
                                   60,
                                   1,
                                   86'400,
                                   "longest wait for an answer of the launcher, and for all ranks "
                                   "to reach an exchange"};

base::text_tunable rendezvous{
    "HEADWAY_RENDEZVOUS", "", "HOST:PORT or FILE",
    "where processes that were started separately meet and become one job: an address that one of "
    "them can listen at, or a file that says it; HEADWAY_RENDEZVOUS_SECRET or the file has the "
    "secret that all must know"};

base::number_tunable rendezvous_processes{
    "HEADWAY_RENDEZVOUS_PROCESSES",
    "processes",
    0,
    0,
    4096,
    "how many processes meet at HEADWAY_RENDEZVOUS; 0: as its file says, else 2"};

}  // namespace

settings settings::from_environment() {
  constexpr std::uint64_t second_ns = 1'000'000'000;
  return {.start_timeout_ns = static_cast<std::uint64_t>(start_timeout.get()) * second_ns,
          .rendezvous = launch::rendezvous.get(),
          .rendezvous_processes = static_cast<int>(launch::rendezvous_processes.get())};
}

std::uint64_t settings::deadline_ns() const noexcept {
  return base::machine_now_ns() + start_timeout_ns;
}

}  // namespace headway::launch
