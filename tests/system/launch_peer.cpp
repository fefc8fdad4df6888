// A rank that uses the launcher as the library does, and then does what its arguments say:
//   launch_peer [exchange | big BYTES] [exit N] [abort N] [leave] [kill-rank R] [sleep SECONDS]
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "launch/job.hpp"

namespace {

using headway::base::result;
using headway::launch::job;

std::unique_ptr<job> self;

template <class T>
T must(result<T> answer) {
  if (!answer) {
    std::fprintf(stderr, "launch_peer: %s\n", answer.error().text.c_str());
    std::_Exit(99);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*answer);
}

std::vector<std::byte> value_of(int rank, std::size_t bytes) {
  std::vector<std::byte> value(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    value[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(rank) * 7);
  return value;
}

/// Publishes a record of so many bytes, and checks the records of all.
void publish(std::size_t bytes) {
  const auto& who = self->who();
  must(self->publish(value_of(who.rank, bytes)));
  int wrong = 0;
  for (int rank = 0; rank < who.size; ++rank)
    wrong += must(self->record_of(rank)) != value_of(rank, bytes);
  int sum = 0;
  for (const auto byte : self->secret()) sum = (sum * 31 + std::to_integer<int>(byte)) % 65'521;
  std::printf(
      "rank %d of %d app %d universe %d look-ups %d job %s launcher %s secret %d wrong %d\n",
      who.rank, who.size, who.app_number, who.universe_size, static_cast<int>(self->look_ups()),
      who.job_id.c_str(), who.launcher.c_str(), sum, wrong);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  headway::base::log_as(headway::base::log_settings::from_environment());
  self = must(job::join(headway::launch::settings::from_environment()));
  int code = 0;
  for (int i = 1; i < count; ++i) {
    const std::string_view word(words[i]);
    const auto number = [&] { return i + 1 < count ? std::atoi(words[++i]) : 0; };
    if (word == "exchange") publish(100);
    if (word == "big") publish(static_cast<std::size_t>(number()));
    if (word == "exit") code = number();
    if (word == "abort" && self->who().rank == 1) self->abort(number(), "because I was told to");
    if (word == "leave" && self->who().rank == 1) std::_Exit(0);
    if (word == "kill-rank" && self->who().rank == number()) raise(SIGKILL);
    if (word == "sleep") usleep(static_cast<useconds_t>(number()) * 1'000'000u);
  }
  must(self->finish());
  return code;
}
