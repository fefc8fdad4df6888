#include "progress/os/placement.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "progress/os/scheduling.hpp"

namespace headway::progress {
namespace {

bool takes(placing chosen, std::size_t index) noexcept {
  switch (chosen) {
    case placing::all:
      return true;
    case placing::first:
      return index == 0;
    case placing::odd:
      return index % 2 == 1;
    case placing::even:
      return index % 2 == 0;
  }
  return true;
}

std::vector<int> without(const std::vector<int>& all, const std::vector<int>& some) {
  std::vector<int> left;
  std::ranges::set_difference(all, some, std::back_inserter(left));
  return left;
}

/// How long a thread has run. Nothing: it has ended, or the kernel has no such counter.
std::optional<std::uint64_t> run_time_ns(int thread) {
  const auto path = fmt::format("/proc/self/task/{}/schedstat", thread);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char text[64] = {};
  const auto got = ::read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

/// The core that a thread is bound to, if it may run on one core only.
std::optional<topology::place_id> core_of(const topology::machine& machine, int thread) {
  const auto processors = processors_of_thread(thread);
  if (processors.empty()) return std::nullopt;
  const auto core = machine.leaf_of(processors.front());
  const bool one =
      std::ranges::all_of(processors, [&](int p) { return machine.leaf_of(p) == core; });
  return one && core != topology::place_id::root ? std::optional(core) : std::nullopt;
}

std::vector<int> threads_of_this_process() {
  std::vector<int> all;
  const std::unique_ptr<DIR, decltype([](DIR* d) { closedir(d); })> folder(
      opendir("/proc/self/task"));
  if (!folder) return all;
  while (const auto* entry = readdir(folder.get()))
    if (entry->d_name[0] != '.') all.push_back(std::atoi(entry->d_name));
  return all;
}

}  // namespace

std::vector<poller_site> poller_sites(const topology::machine& machine, topology::level which,
                                      placing chosen) {
  const auto places = machine.places_at(which);
  std::vector<poller_site> sites;
  const auto add = [&](topology::place_id id) {
    const auto& processors = machine.places()[static_cast<std::size_t>(id)].processors;
    sites.push_back({fmt::format("hw-idle{}", processors.front()),
                     machine.imagined() ? std::vector<int>{} : processors});
  };
  for (std::size_t i = 0; i < places.size(); ++i)
    if (takes(chosen, i)) add(places[i]);
  if (sites.empty()) add(places.front());
  return sites;
}

std::vector<int> free_part(const topology::machine& machine, const std::vector<int>& site,
                           const std::vector<int>& bound) {
  const bool another_is_free = !without(machine.places().front().processors, bound).empty();
  return another_is_free ? without(site, bound) : site;
}

std::vector<int> bound_threads::find(const topology::machine& machine) {
  const auto now =
      base::machine_now_ns();  // compared with the kernel's times, so the machine's clock
  const auto since = last_ns_ == 0 ? 0 : now - last_ns_;
  std::vector<seen> all;
  std::vector<int> bound;
  for (const int thread : threads_of_this_process()) {
    if (is_own_thread(thread)) continue;
    const auto core = core_of(machine, thread);
    if (!core) continue;
    const auto ran = run_time_ns(thread);
    if (!ran) continue;
    all.push_back({thread, *ran});
    const auto before = std::ranges::find(last_, thread, &seen::thread);
    if (before != last_.end() && *ran - before->ran_ns < since / 20) continue;
    const auto& processors = machine.places()[static_cast<std::size_t>(*core)].processors;
    bound.insert(bound.end(), processors.begin(), processors.end());
  }
  last_ = std::move(all);
  last_ns_ = now;
  std::ranges::sort(bound);
  bound.erase(std::ranges::unique(bound).begin(), bound.end());
  return bound;
}

}  // namespace headway::progress
