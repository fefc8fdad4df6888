#include "tools/mpiexec/input_pump.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace headway::mpiexec {
namespace {

constexpr std::size_t block_bytes = 65'536;
constexpr int background_pause_us = 1000;

/// A job in the background must not read the terminal: the kernel would stop it.
bool in_background() { return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp(); }

}  // namespace

input_pump::input_pump() : end_(eventfd(0, EFD_CLOEXEC)), error_(end_ < 0 ? errno : 0) {}

input_pump::~input_pump() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(end_, &one, sizeof one);
  if (thread_.joinable()) thread_.join();
  close_all();
  close(end_);
}

void input_pump::add(int pipe) {
  fcntl(pipe, F_SETFL, O_NONBLOCK);  // so that the thread can end while a rank does not read
  pipes_.push_back(pipe);
}

base::result<> input_pump::start() {
  if (error_ != 0) return base::failed_errno("eventfd", error_);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& why) {
    return base::failed_errno("a thread cannot be made", why.code().value());
  }
  return {};
}

void input_pump::run() {
  char block[block_bytes];
  while (!pipes_.empty() && wait_for(STDIN_FILENO, POLLIN)) {
    if (in_background()) {
      usleep(background_pause_us);
      continue;
    }
    const auto got = read(STDIN_FILENO, block, sizeof block);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0 || !pass_on(block, static_cast<std::size_t>(got))) break;
  }
  close_all();
}

bool input_pump::wait_for(int descriptor, short events) const {
  pollfd watched[] = {{descriptor, events, 0}, {end_, POLLIN, 0}};
  while (poll(watched, 2, -1) < 0 && errno == EINTR) continue;
  return watched[1].revents == 0;
}

/// False: the pump must end.
bool input_pump::pass_on(const char* bytes, std::size_t count) {
  for (int& pipe : pipes_) {
    for (std::size_t at = 0; at < count;) {
      const auto written = write(pipe, bytes + at, count - at);
      if (written >= 0) {
        at += static_cast<std::size_t>(written);
      } else if (errno == EAGAIN) {
        if (!wait_for(pipe, POLLOUT)) return false;
      } else if (errno != EINTR) {  // its reader is gone
        close(pipe);
        pipe = -1;
        break;
      }
    }
  }
  std::erase(pipes_, -1);
  return true;
}

void input_pump::close_all() {
  for (const int pipe : pipes_) close(pipe);
  pipes_.clear();
}

}  // namespace headway::mpiexec
