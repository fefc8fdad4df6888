#include "launch/single_job.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include "base/log.hpp"

namespace headway::launch {

single_job::single_job() {
  randombytes_buf(secret_.data(), secret_.size());
  // Containers can share /dev/shm and have the same process numbers: the number alone would not do.
  who_ = {.job_id = fmt::format("single-{}-{:08x}", getpid(), randombytes_random()),
          .launcher = "none",
          .universe_size = 1};
}

base::result<> single_job::publish(std::string_view name, std::span<const std::byte> value) {
  own_.insert_or_assign(std::string(name), std::vector(value.begin(), value.end()));
  return {};
}

base::result<std::vector<std::byte>> single_job::lookup(int rank, std::string_view name) {
  if (rank != 0)
    return base::failed(base::fault_kind::bad_input, fmt::format("there is no rank {} of 1", rank));
  const auto found = own_.find(name);
  if (found == own_.end())
    return base::failed(base::fault_kind::peer_lost,
                        fmt::format("rank 0 has published no '{}'", name));
  return found->second;
}

void single_job::abort(int, std::string_view why) noexcept {
  if (!why.empty()) base::log(base::severity::error, "the job is ended: {}", why);
}

}  // namespace headway::launch
