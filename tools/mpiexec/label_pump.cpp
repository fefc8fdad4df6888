#include "tools/mpiexec/label_pump.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "tools/mpiexec/words.hpp"

namespace headway::mpiexec {
namespace {

constexpr std::uint64_t drain_mark = UINT64_MAX;
constexpr std::size_t line_block_bytes = 65'536;

/// Another thread waits for it: a write that is refused is tried again.
void raise_event(int descriptor) {
  constexpr int tries = 100;
  const std::uint64_t one = 1;
  for (int i = 0; i < tries && write(descriptor, &one, sizeof one) < 0; ++i) continue;
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
      finished_(eventfd(0, EFD_CLOEXEC)),
      error_(epoll_ < 0 || drain_ < 0 || finished_ < 0 ? errno : 0) {}

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

base::result<> label_pump::start() {
  const auto add = [this](int descriptor, std::uint64_t mark) {
    epoll_event wish{.events = EPOLLIN, .data = {.u64 = mark}};
    return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &wish) == 0;
  };
  if (error_ != 0) return base::failed_errno("epoll_create1 or eventfd", error_);
  bool all = add(drain_, drain_mark);
  for (std::size_t i = 0; i < streams_.size() && all; ++i) all = add(streams_[i].pipe, i);
  if (!all) return base::failed_errno("epoll_ctl", errno);
  open_streams_ = streams_.size();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& why) {
    return base::failed_errno("a thread cannot be made", why.code().value());
  }
  return {};
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
  char block[line_block_bytes];
  const auto got = read(from.pipe, block, sizeof block);
  if (got > 0) {
    from.held.append(block, static_cast<std::size_t>(got));
    put_out(from, false);
  } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
    if (got < 0) say(fmt::format("the output of a rank: read: {}", strerror(errno)));
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
  // A child on its way to its program has a copy, with which the pipe would stay in the set.
  epoll_ctl(epoll_, EPOLL_CTL_DEL, from.pipe, nullptr);
  close(std::exchange(from.pipe, -1));
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
      if (errno != EPIPE) say(fmt::format("the output of a rank: write: {}", strerror(errno)));
      return false;
    }
  }
  return true;
}

}  // namespace headway::mpiexec
