#include "launch/single/single_launcher.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include "base/log.hpp"

namespace headway::launch {

single_launcher::single_launcher() {
  // Containers may share /dev/shm and use the same pids: the pid alone does not suffice.
  who_ = {.job_id = fmt::format("single-{}-{:08x}", getpid(), randombytes_random()),
          .launcher = "none",
          .universe_size = 1};
}

base::result<> single_launcher::publish(std::span<const std::byte> value) {
  own_.assign(value.begin(), value.end());
  return {};
}

void single_launcher::abort(int, std::string_view why) noexcept {
  if (!why.empty()) base::log(base::severity::error, "the job is ended: {}", why);
}

}  // namespace headway::launch
