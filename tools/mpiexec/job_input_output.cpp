// The part of job_runner that gives ranks their standard input, output and error output.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/result.hpp"
#include "launch/environment.hpp"
#include "tools/mpiexec/job_events.hpp"
#include "tools/mpiexec/job_runner.hpp"
#include "tools/mpiexec/words.hpp"

namespace headway::mpiexec {

/// A file or pipe as input is handed to the rank as it is, if it is only one. A terminal is not:
/// the rank is in another process group and would be stopped for reading it.
bool job_runner::prepare_streams() {
  null_input_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null_input_ < 0) {
    say(fmt::format("the job cannot be started: /dev/null: {}", strerror(errno)));
    return false;
  }
  int readers = 0;
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) readers += reads_input(rank);
  if (readers > 1 || (readers == 1 && isatty(STDIN_FILENO)))
    input_ = std::make_unique<input_pump>();
  if (wish_.label || (wish_.debugged && readers > 1)) pump_ = std::make_unique<label_pump>();
  struct stat out, error;
  one_stream_ = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &error) == 0 &&
                out.st_dev == error.st_dev && out.st_ino == error.st_ino;
  return true;
}

/// After the ranks, which have added their streams.
bool job_runner::start_streams() {
  base::result<> done;
  if (pump_ && !(done = pump_->start())) pump_.reset();
  if (pump_ && !watch(pump_->finished_descriptor(), mark(event_kind::output_finished), EPOLLIN)) {
    done = base::failed_errno("epoll_ctl", errno);
    output_finished_ = true;
  }
  if (input_ && done && !(done = input_->start())) input_.reset();
  if (!done) say(fmt::format("the ranks' input and output: {}", done.error().text));
  return done.has_value();
}

/// What is typed goes to the debuggers, where there are any.
bool job_runner::reads_input(int rank) const {
  return wish_.debugged ? wish_.debugged->has(rank) : wish_.input.has(rank);
}

bool job_runner::open_input(int rank, child_plan& plan) {
  if (!reads_input(rank)) {
    plan.input = null_input_;
    return true;
  }
  if (!input_) return true;  // the parent's
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  plan.input = ends[0];
  input_->add(ends[1]);
  return true;
}

bool job_runner::open_output(int rank, child_plan& plan) {
  if (!wish_.output_pattern.empty() && (plan.output = open_file(wish_.output_pattern, rank)) < 0)
    return false;
  if (wish_.error_pattern == wish_.output_pattern) plan.error = plan.output;
  else if (!wish_.error_pattern.empty() && (plan.error = open_file(wish_.error_pattern, rank)) < 0)
    return false;
  if (!pump_) return true;
  if (plan.output < 0 && !open_labelled(rank, STDOUT_FILENO, plan.output)) return false;
  if (plan.error >= 0) return true;
  if (one_stream_ && wish_.output_pattern.empty()) {
    plan.error = plan.output;  // one pipe keeps both in the order in which they were written
    return true;
  }
  return open_labelled(rank, STDERR_FILENO, plan.error);
}

bool job_runner::open_labelled(int rank, int target, int& end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pump_->add(rank, ends[0], target, colours(target));
  end = ends[1];
  return true;
}

/// The file that the pattern names for the rank: "%r" is the rank, with as many digits as the last
/// rank has, "%%" is '%'. Makes the folders that it lies in.
int job_runner::open_file(const std::string& pattern, int rank) const {
  const auto digits = std::to_string(ranks_.size() - 1).size();
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool mark = pattern[i] == '%' && i + 1 < pattern.size();
    if (mark && pattern[i + 1] == 'r') name += fmt::format("{:0{}}", rank, digits), ++i;
    else if (mark && pattern[i + 1] == '%') name += '%', ++i;
    else name += pattern[i];
  }
  std::error_code error;  // a folder that cannot be made is reported by `open`
  if (const auto folder = std::filesystem::path(name).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);
  return open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
}

void job_runner::close_streams(const child_plan& plan) const {
  if (plan.input >= 0 && plan.input != null_input_) close(plan.input);
  if (plan.output >= 0) close(plan.output);
  if (plan.error >= 0 && plan.error != plan.output) close(plan.error);
}

bool job_runner::colours(int descriptor) const {
  const launch::environment around(ambient_);
  return isatty(descriptor) && !around.has("NO_COLOR") && around.find("TERM") != "dumb";
}

}  // namespace headway::mpiexec
