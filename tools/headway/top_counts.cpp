#include "tools/headway/top_counts.hpp"

#include <algorithm>
#include <string_view>

namespace headway::tool {
namespace {

/// Counters come from other processes: one that runs backwards counts as 0.
std::uint64_t since(std::uint64_t before, std::uint64_t now) noexcept {
  return now > before ? now - before : 0;
}

activity between(const process_counts& before, const process_counts& now) noexcept {
  const auto seconds = static_cast<double>(now.written_ns - before.written_ns) / 1e9;
  const auto rate = [&](std::uint64_t process_counts::* counter) {
    return static_cast<double>(since(before.*counter, now.*counter)) / seconds;
  };
  return {.processes = 1,
          .bytes_in = rate(&process_counts::bytes_in),
          .bytes_out = rate(&process_counts::bytes_out),
          .packets = rate(&process_counts::packets),
          .bytes_overlap = rate(&process_counts::bytes_overlap),
          .waited_s = rate(&process_counts::waited_ns) / 1e9,
          .library_s = rate(&process_counts::library_ns) / 1e9};
}

/// A process without a job is told from every other one by its number.
std::uint64_t job_of(const watch::page_image& image, page_key page) {
  const auto rows = image.of("job");
  if (!rows.empty()) return rows.front()->at("id");
  return static_cast<std::uint64_t>(page.first);
}

}  // namespace

std::uint64_t process_counts::age_ns() const noexcept { return since(began_ns, written_ns); }

process_counts counts_of(const watch::page_image& image, page_key page) {
  process_counts counts{.page = page,
                        .job = job_of(image, page),
                        .rank = image.rank,
                        .size = image.size,
                        .program = image.program.data(),
                        .began_ns = image.began_ns,
                        .written_ns = image.written_ns};
  for (const auto* rail : image.of("rail")) {
    counts.bytes_in += rail->at("bytes_in");
    counts.bytes_out += rail->at("bytes_out");
    counts.packets += rail->at("packets_in") + rail->at("packets_out");
    counts.bytes_overlap += rail->at("bytes_overlap");
  }
  for (const auto* one : image.of(image.of("overlap").empty() ? "thread" : "overlap"))
    counts.waited_ns += one->at("waited_ns");
  for (const auto* point : image.of("point"))
    if (std::string_view(point->name.data()) != "explicit")
      counts.library_ns += point->at("busy_ns");
  return counts;
}

void activity::add(const activity& other) noexcept {
  processes += other.processes;
  bytes_in += other.bytes_in;
  bytes_out += other.bytes_out;
  packets += other.packets;
  bytes_overlap += other.bytes_overlap;
  waited_s += other.waited_s;
  library_s += other.library_s;
}

std::vector<process_line> rate_meter::look(std::vector<process_counts> found,
                                           std::uint64_t now_ns) {
  std::vector<process_line> lines;
  std::map<page_key, entry> kept;
  for (auto& counts : found) {
    entry made{.last = counts, .changed_ns = now_ns, .now = {}};
    // The number of a process that ended may belong to another one now.
    const auto known = entries_.find(counts.page);
    if (known != entries_.end() && known->second.last.began_ns == counts.began_ns) {
      if (counts.written_ns > known->second.last.written_ns) {
        made.now = between(known->second.last, counts);
      } else {
        made = known->second;
        if (since(made.changed_ns, now_ns) > silence_max_ns) made.now = {};
      }
    }
    lines.push_back({.counts = counts, .now = made.now});
    kept.emplace(counts.page, std::move(made));
  }
  entries_ = std::move(kept);
  return lines;
}

std::vector<job_line> jobs_of(const std::vector<process_line>& processes) {
  std::map<std::uint64_t, job_line> found;
  std::map<std::uint64_t, std::uint64_t> began;
  for (const auto& one : processes) {
    auto& job = found[one.counts.job];
    if (job.processes++ == 0) job.program = one.counts.program;
    job.job = one.counts.job;
    job.size = std::max(job.size, one.counts.size);
    job.bytes += one.counts.bytes();
    job.age_ns = std::max(job.age_ns, one.counts.age_ns());
    job.now.add(one.now);
    const auto [at, first] = began.emplace(job.job, one.counts.began_ns);
    at->second = std::min(at->second, one.counts.began_ns);
  }
  std::vector<job_line> jobs;
  for (auto& [id, job] : found) jobs.push_back(std::move(job));
  std::ranges::stable_sort(jobs, {}, [&](const job_line& job) { return began.at(job.job); });
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].number = i + 1;
  return jobs;
}

}  // namespace headway::tool
