#include "tools/mpiexec/label_pump.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace headway::mpiexec {
namespace {

constexpr std::uint64_t drain_mark = UINT64_MAX;
constexpr std::size_t block_bytes = 65'536;

void raise_event(int descriptor) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(descriptor, &one, sizeof one);
}

/// "3: ", in the colour of the rank: six of a terminal's, in turns.
std::string label_of(int rank, bool colour) {
  constexpr int colours[] = {36, 32, 33, 35, 34, 31};  // cyan, green, yellow, magenta, blue, red
  return colour ? fmt::format("\033[{}m{}:\033[0m ", colours[rank % 6], rank)
                : fmt::format("{}: ", rank);
}

}  // namespace

label_pump::label_pump()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      drain_(eventfd(0, EFD_CLOEXEC)),
      finished_(eventfd(0, EFD_CLOEXEC)) {}

label_pump::~label_pump() {
  drain();
  if (thread_.joinable()) thread_.join();
  for (auto& one : streams_)
    if (one.pipe >= 0) close(one.pipe);
  for (const int descriptor : {epoll_, drain_, finished_}) close(descriptor);
}

void label_pump::add(int rank, int pipe, int target, bool colour) {
  streams_.push_back({pipe, target, label_of(rank, colour), {}});
}

void label_pump::start() {
  epoll_event wish{.events = EPOLLIN, .data = {.u64 = drain_mark}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, drain_, &wish);
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    wish.data.u64 = i;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, streams_[i].pipe, &wish);
  }
  open_streams_ = streams_.size();
  thread_ = std::thread([this] { run(); });
}

void label_pump::drain() { raise_event(drain_); }

void label_pump::run() {
  bool draining = false;
  while (open_streams_ > 0) {
    epoll_event found[64];
    const int count = epoll_wait(epoll_, found, 64, draining ? 0 : -1);
    if (count == 0 && draining) break;  // nothing is left in any pipe
    for (int i = 0; i < count; ++i) {
      if (found[i].data.u64 != drain_mark) {
        read_some(streams_[found[i].data.u64]);
      } else {
        draining = true;
        epoll_ctl(epoll_, EPOLL_CTL_DEL, drain_, nullptr);
      }
    }
  }
  for (auto& one : streams_)
    if (one.pipe >= 0) close_stream(one);
  raise_event(finished_);
}

void label_pump::read_some(stream& from) {
  char block[block_bytes];
  const auto got = read(from.pipe, block, sizeof block);
  if (got > 0) {
    from.held.append(block, static_cast<std::size_t>(got));
    put_out(from, false);
  } else if (got == 0 || errno != EINTR) {
    close_stream(from);
  }
}

/// Writes the whole lines that are held, or everything, with the rank before each line.
void label_pump::put_out(stream& from, bool to_the_end) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t end; (end = from.held.find('\n', at)) != std::string::npos; at = end + 1)
    out.append(from.label).append(from.held, at, end + 1 - at);
  const auto rest = std::string_view(from.held).substr(at);
  if (!rest.empty() && (to_the_end || rest.size() >= line_bytes_max)) {
    out.append(from.label).append(rest) += '\n';
    at = from.held.size();
  }
  from.held.erase(0, at);
  if (!out.empty() && !write_all(from.target, out)) close_stream(from);
}

void label_pump::close_stream(stream& from) {
  if (from.pipe < 0) return;
  close(std::exchange(from.pipe, -1));  // leaves the epoll set by this
  --open_streams_;
  put_out(from, true);
}

bool label_pump::write_all(int target, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto written = write(target, bytes.data() + at, bytes.size() - at);
    if (written >= 0) {
      at += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd one{target, POLLOUT,
                 0};  // another process that shares the output made it non-blocking
      poll(&one, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace headway::mpiexec
