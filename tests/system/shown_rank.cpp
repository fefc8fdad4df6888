// A process whose statistics are known exactly, for the test of `headway top`.
//
//   shown_rank JOB RANK SIZE PROGRAM MEGABYTES
//
// JOB and PROGRAM are shown as they are, whatever bytes they have; SIZE 0: a process without a job.
// In each second of its own clock it receives so many megabytes and sends a tenth of them, half of
// which the library moves; it waits a quarter of the time. That clock goes 200 times slower
// than time, so that sums do not change while a test looks.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "watch/page.hpp"

namespace {

using headway::watch::page_image;

constexpr std::uint64_t age_ns = 3'723'000'000'000;  // 1:02:03
constexpr std::uint64_t step_ns = 100'000;
constexpr std::uint64_t bytes_before = 5'000'000'000'000;

struct rank_facts {
  std::string_view job, program;
  std::uint64_t rank, size, megabytes;
};

page_image image_at(const rank_facts& of, std::uint64_t steps) {
  page_image image;
  image.pid = static_cast<std::uint64_t>(getpid());
  image.rank = of.rank;
  image.size = of.size;
  image.began_ns = 1;
  image.written_ns = age_ns + steps * step_ns;
  of.program.copy(image.program.data(), image.program.size() - 1);
  if (of.size != 0) image.add("job", of.job).add("id", headway::base::hash_of(of.job));
  const auto in = of.megabytes * 100 * steps, out = in / 10;
  auto& rail = image.add("rail", "shm");
  rail.add("packets_out", steps);
  rail.add("bytes_out", out);
  rail.add("packets_in", 2 * steps);
  rail.add("bytes_in", bytes_before + in);
  rail.add("bytes_overlap", (in + out) / 2);
  image.add("overlap", "messages").add("waited_ns", steps * step_ns / 4);
  image.add("point", "explicit").add("busy_ns", steps * step_ns * 9 / 10);
  image.add("point", "event").add("busy_ns", steps * step_ns / 10);
  return image;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const auto number = [&](int at) { return std::strtoull(argv[at], nullptr, 10); };
  const rank_facts of{.job = argv[1],
                      .program = argv[4],
                      .rank = number(2),
                      .size = number(3),
                      .megabytes = number(5)};
  auto page = headway::watch::page::make();
  if (!page) return 1;
  for (std::uint64_t step = 0;; ++step) {
    page->write(image_at(of, step));
    if (step == 0) {
      std::puts("shown");
      std::fflush(stdout);
    }
    usleep(20'000);
  }
}
