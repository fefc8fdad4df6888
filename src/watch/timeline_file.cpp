#include "watch/timeline_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "base/json_writer.hpp"
#include "base/whole_file.hpp"
#include "progress/core/meter.hpp"

namespace headway::watch {
namespace {

using progress::happening;
using progress::meter;

constexpr char head = '[';
constexpr std::string_view tail = "\n]\n";

double us(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }

/// The entries of a process, as text.
class entries_text {
 public:
  explicit entries_text(int rank) noexcept : rank_(rank) {}

  /// What is known of the process (`thread` 0) or the thread.
  void add_fact(int thread, std::string_view what, std::string_view name, std::string_view value) {
    add(thread, [&] {
      out_.member("ph", "M");
      out_.member("name", what);
      add_argument(name, value);
    });
  }

  void add_happening(int thread, const happening& h) {
    add(thread, [&] {
      out_.member("ts", us(h.begin_ns));
      out_.member("name", h.name.data());
      if (h.what == happening::sort::stretch) {
        out_.member("ph", "X");
        out_.member("dur", us(h.end_ns - h.begin_ns));
      } else {
        out_.member("ph", h.what == happening::sort::begin ? "b" : "e");
        out_.member("cat", "message");
        out_.name("id2");  // one of the process's own
        out_.object([&] { out_.member("local", fmt::format("{:#x}", h.id)); });
      }
      if (h.bytes != 0) add_argument("bytes", h.bytes);
    });
  }

  void add_note(int thread, std::uint64_t at_ns, std::string_view what) {
    add(thread, [&] {
      out_.member("ph", "i");
      out_.member("ts", us(at_ns));
      out_.member("s", "t");
      out_.member("name", what);
    });
  }

  /// Each after a comma.
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void add(int thread, const auto& members) {
    out_.object([&] {
      out_.member("pid", rank_);
      out_.member("tid", thread);
      members();
    });
    text_ += ",\n" + out_.take();
  }
  void add_argument(std::string_view name, const auto& value) {
    out_.name("args");
    out_.object([&] { out_.member(name, value); });
  }

  int rank_;
  base::json_writer out_;
  std::string text_;
};

constexpr std::string_view labels = "process_labels";

/// The first entry of a process, which names the job.
std::string first_entry(int rank, std::string_view job) {
  entries_text text(rank);
  text.add_fact(0, labels, "labels", fmt::format("job {}", job));
  return text.take();
}

/// This process's entries, each after a comma.
std::string own_part(int rank, std::string_view job) {
  entries_text text(rank);
  text.add_fact(0, "process_name", "name", fmt::format("rank {}", rank));
  for (const auto& t : meter::timelines()) {
    text.add_fact(t.thread, "thread_name", "name", t.name);
    for (const auto& h : t.entries) text.add_happening(t.thread, h);
    if (t.dropped != 0)
      text.add_note(t.thread, t.entries.back().end_ns,
                    fmt::format("{} entries dropped: the buffer is full", t.dropped));
  }
  return first_entry(rank, job) + text.take();
}

/// Whether the first entry of the file names this job.
bool names(int file, std::string_view job) {
  auto wanted = first_entry(0, job).substr(1);   // after the comma
  wanted.erase(0, wanted.find(R"("name")"));     // of any rank
  std::string found(wanted.size() + 128, '\0');  // 128: what precedes it in the first line
  const auto got = pread(file, found.data(), found.size(), 0);
  found.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  found.resize(std::min(found.size(), found.find('\n', 2)));
  return found.find(wanted) != std::string::npos;
}

base::result<> add_to(int file, std::string part, std::string_view job) {
  struct stat found{};
  if (flock(file, LOCK_EX) != 0 || fstat(file, &found) != 0) return base::failed_errno("", errno);
  const auto size = static_cast<std::size_t>(found.st_size);
  if (size <= tail.size() || !names(file, job)) {
    if (ftruncate(file, 0) != 0) return base::failed_errno("truncate", errno);
    HEADWAY_ASSERT(part.starts_with(','));
    part.front() = head;  // the first entry has no comma in front
  } else if (lseek(file, -static_cast<off_t>(tail.size()), SEEK_END) < 0) {
    return base::failed_errno("seek", errno);
  }
  part += tail;
  return base::write_all(file, part);
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
