#include "watch/timeline_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "progress/core/meter.hpp"
#include "watch/json_text.hpp"

namespace headway::watch {
namespace {

using progress::happening;
using progress::meter;

constexpr char head = '[';
constexpr std::string_view tail = "\n]\n";

double us(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

void add_meta(std::string& text, int rank, int thread, std::string_view what,
              std::string_view name) {
  text += fmt::format(
      ",\n"
      R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":"{}"}}}})",
      rank, thread, what, json_text(name));
}

/// The name and arguments of a process's first entry, which names the job.
std::string labels_of(std::string_view job) {
  return fmt::format(R"("name":"process_labels","args":{{"labels":"job {}"}}}})", json_text(job));
}

void add_happening(std::string& text, int rank, int thread, const happening& h) {
  text += fmt::format(
      ",\n"
      R"({{"pid":{},"tid":{},"ts":{:.3f},"name":"{}",)",
      rank, thread, us(h.begin_ns), json_text(h.name.data()));
  switch (h.what) {
    case happening::sort::stretch:
      text += fmt::format(R"("ph":"X","dur":{:.3f})", us(h.end_ns - h.begin_ns));
      break;
    case happening::sort::begin:
    case happening::sort::end:
      text += fmt::format(R"("ph":"{}","cat":"message","id":"{}.{:x}")",
                          h.what == happening::sort::begin ? 'b' : 'e', rank, h.id);
      break;
  }
  if (h.bytes != 0) text += fmt::format(R"(,"args":{{"bytes":{}}})", h.bytes);
  text += '}';
}

/// This process's entries, each after a comma.
std::string own_part(int rank, std::string_view job) {
  std::string text = fmt::format(
      ",\n"
      R"({{"ph":"M","pid":{},"tid":0,{})",
      rank, labels_of(job));
  add_meta(text, rank, 0, "process_name", fmt::format("rank {}", rank));
  for (const auto& t : meter::timelines()) {
    add_meta(text, rank, t.thread, "thread_name", t.name);
    for (const auto& h : t.entries) add_happening(text, rank, t.thread, h);
    if (t.dropped != 0)
      text += fmt::format(
          ",\n"
          R"({{"ph":"i","pid":{},"tid":{},"ts":{:.3f},"s":"t","name":"{} entries dropped: )"
          R"(the buffer is full"}})",
          rank, t.thread, us(t.entries.back().end_ns), t.dropped);
  }
  return text;
}

/// Whether the first line of the file names this job.
bool names(int file, std::string_view job) {
  const auto wanted = labels_of(job);
  std::string found(wanted.size() + 128, '\0');  // 128: what precedes it in the first line
  const auto got = pread(file, found.data(), found.size(), 0);
  found.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  found.resize(std::min(found.size(), found.find('\n', 2)));
  return found.find(wanted) != std::string::npos;
}

base::result<> write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = write(file, text.data(), text.size());
    if (written < 0) return base::failed_errno("write", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

base::result<> add_to(int file, std::string part, std::string_view job) {
  struct stat found{};
  if (flock(file, LOCK_EX) != 0 || fstat(file, &found) != 0) return base::failed_errno("", errno);
  const auto size = static_cast<std::size_t>(found.st_size);
  if (size <= tail.size() || !names(file, job)) {
    if (ftruncate(file, 0) != 0) return base::failed_errno("truncate", errno);
    part.front() = head;  // the first entry has no comma in front
  } else if (lseek(file, -static_cast<off_t>(tail.size()), SEEK_END) < 0) {
    return base::failed_errno("seek", errno);
  }
  part += tail;
  return write_all(file, part);
}

}  // namespace

base::result<> add_timeline(const std::string& path, int rank, const std::string& job,
                            std::string_view more) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return base::failed_errno(fmt::format("open {}", path), errno);
  auto done = add_to(file, own_part(rank, job).append(more), job);
  close(file);
  if (!done) done.error().text = fmt::format("{}: {}", path, done.error().text);
  return done;
}

}  // namespace headway::watch
