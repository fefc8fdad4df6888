// The first half of job_runner: from the options to running processes.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/clock.hpp"
#include "launch/environment.hpp"
#include "tools/mpiexec/job_events.hpp"
#include "tools/mpiexec/job_runner.hpp"
#include "tools/mpiexec/program.hpp"
#include "tools/mpiexec/words.hpp"

namespace headway::mpiexec {
namespace {

constexpr int forwarded_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                     SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

// Variables of an outer launcher, which the ranks must not inherit.
constexpr std::string_view outer_words[] = {
    "PMI_", "PMIX_", "HYDI_", "OMPI_COMM_WORLD_", "HEADWAY_WIRE=", "MPI_LOCAL"};

std::string random_hex(std::size_t bytes) {
  std::array<unsigned char, 32> noise{};
  for (std::size_t at = 0; at < bytes;) {
    const auto got = getrandom(noise.data() + at, bytes - at, 0);
    if (got > 0) at += static_cast<std::size_t>(got);
  }
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", noise[i]);
  return text;
}

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  const auto entry = name + "=";
  std::erase_if(environment, [&](const auto& text) { return text.starts_with(entry); });
  environment.push_back(entry + value);
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Executes a file as a shell does: a file that the kernel cannot execute is a shell script.
child spawn_program(child_plan& plan, const std::vector<std::string>& command) {
  const auto started = spawn(plan);
  if (started.error_number != ENOEXEC) return started;
  std::vector<std::string> words{"/bin/sh", plan.path};
  words.insert(words.end(), command.begin() + 1, command.end());
  const auto arguments = pointers_to(words);
  plan.path = words.front().c_str();
  plan.arguments = arguments.data();
  return spawn(plan);
}

}  // namespace

job_runner::job_runner(const options& wish, const char* const* ambient)
    : wish_(wish),
      ambient_(ambient),
      job_name_(fmt::format("hw-{}-{}", getpid(), random_hex(4))),
      ranks_(static_cast<std::size_t>(wish.rank_count())) {
  job_facts facts{wish.rank_count(), job_name_, random_hex(32), {}};
  for (std::size_t block = 0; block < wish.blocks.size(); ++block)
    facts.program_of_rank.insert(facts.program_of_rank.end(),
                                 static_cast<std::size_t>(wish.blocks[block].rank_count),
                                 static_cast<int>(block));
  server_ = std::make_unique<pmi_server>(static_cast<pmi_host&>(*this), std::move(facts));
}

bool job_runner::find_programs() {
  for (const auto& block : wish_.blocks) {
    const auto environment = environment_of(block);
    const auto entry = std::ranges::find_if(
        environment, [](const auto& text) { return text.starts_with("PATH="); });
    auto found = find_program(block.command.front(), block.directory,
                              entry == environment.end() ? "/usr/bin:/bin" : entry->substr(5));
    if (found.exit_code != 0) {
      say(printable(found.why));
      exit_code_ = found.exit_code;
      return false;
    }
    paths_.push_back(std::move(found.path));
  }
  return true;
}

/// Each rank costs a socket and a pidfd, and two pipes when lines are labelled. The ranks
/// themselves get the limit with which mpiexec was started.
void job_runner::raise_descriptor_limit() {
  rlimit limit;
  const rlim_t wanted = ranks_.size() * 4 + 256;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  old_limit_ = limit;
  limit.rlim_cur = wanted;
  limit.rlim_max = std::max(limit.rlim_max, wanted);  // only root may; else as far as it goes
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  limit.rlim_max = old_limit_->rlim_max;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

void job_runner::take_signals() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int number : forwarded_signals) {
    struct sigaction found;
    sigaction(number, nullptr, &found);
    if (found.sa_handler != SIG_IGN) sigaddset(&taken, number);  // nohup and "&" mean it
  }
  sigprocmask(SIG_BLOCK, &taken, &old_mask_);
  if (signal(SIGPIPE, SIG_IGN) != SIG_IGN) default_signals_.push_back(SIGPIPE);
  signals_ = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  watch(signals_, mark(event_kind::signal), EPOLLIN);
}

/// Files and pipes are handed to rank 0 as they are. A terminal is not: rank 0 is in another
/// process group and would be stopped for reading it, so mpiexec reads it and forwards it.
void job_runner::prepare_input() {
  null_input_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  struct stat out, error;
  one_stream_ = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &error) == 0 &&
                out.st_dev == error.st_dev && out.st_ino == error.st_ino;
}

std::vector<std::string> job_runner::environment_of(const program_block& block) const {
  std::vector<std::string> made;
  for (auto entry = ambient_; *entry; ++entry) {
    const std::string_view text(*entry);
    if (std::ranges::none_of(outer_words, [&](auto word) { return text.starts_with(word); }))
      made.emplace_back(text);
  }
  for (const auto& [name, value] : wish_.environment) set(made, name, value);
  for (const auto& [name, value] : block.environment) set(made, name, value);
  set(made, "PMI_SIZE", std::to_string(ranks_.size()));
  set(made, "PMI_JOBID", job_name_);
  set(made, "MPI_LOCALNRANKS", std::to_string(ranks_.size()));
  return made;
}

bool job_runner::open_output(int rank, child_plan& plan) {
  if (!wish_.label) return true;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pump_->add(rank, ends[0], STDOUT_FILENO);
  plan.output = plan.error = ends[1];
  if (one_stream_) return true;  // one pipe keeps both in the order in which they were written
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pump_->add(rank, ends[0], STDERR_FILENO);
  plan.error = ends[1];
  return true;
}

bool job_runner::start_rank(int rank, const program_block& block, const std::string& path,
                            std::vector<std::string>& environment) {
  auto& made = at(rank);
  made.program = &block;
  int wire[2] = {-1, -1}, input[2] = {-1, -1};
  child_plan plan{.path = path.c_str(),
                  .signal_mask = old_mask_,
                  .descriptor_limit = old_limit_ ? &*old_limit_ : nullptr,
                  .ignored_signals = &default_signals_};
  const bool typed = rank == 0 && isatty(STDIN_FILENO);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire) != 0 ||
      (typed && pipe2(input, O_CLOEXEC) != 0) || !open_output(rank, plan)) {
    say(fmt::format("rank {} cannot be started: {}", rank, strerror(errno)));
    return false;
  }
  struct stat socket_facts{};
  fstat(wire[1], &socket_facts);
  const auto common = environment.size();
  environment.push_back(fmt::format("PMI_RANK={}", rank));
  environment.push_back(fmt::format("PMI_FD={}", wire[1]));
  environment.push_back(fmt::format("MPI_LOCALRANKID={}", rank));
  environment.push_back(fmt::format("HEADWAY_WIRE={}", socket_facts.st_ino));
  const auto arguments = pointers_to(block.command), variables = pointers_to(environment);
  plan.arguments = arguments.data();
  plan.environment = variables.data();
  plan.directory = block.directory.empty() ? nullptr : block.directory.c_str();
  plan.input = typed ? input[0] : rank == 0 ? -1 : null_input_;
  plan.kept = wire[1];
  const auto started = spawn_program(plan, block.command);
  environment.resize(common);
  for (const int end :
       {wire[1], input[0], plan.output, plan.error == plan.output ? -1 : plan.error})
    if (end >= 0) close(end);
  made.wire = wire[0];
  if (typed) input_pipe_ = input[1];
  if (started.pid < 0) {
    say(fmt::format("rank {} cannot be started: {}: {}", rank, started.step,
                    strerror(started.error_number)));
    exit_code_ = started.error_number == ENOENT ? 127 : 126;
    return false;
  }
  made.pid = started.pid;
  made.process = static_cast<int>(syscall(SYS_pidfd_open, started.pid, 0));
  made.alive = true;
  ++living_;
  guardian_->watch(started.pid);
  watch(made.wire, mark(event_kind::wire, rank), EPOLLIN);
  watch(made.process, mark(event_kind::process, rank), EPOLLIN);
  return true;
}

bool job_runner::start_ranks() {
  int rank = 0;
  for (std::size_t index = 0; index < wish_.blocks.size(); ++index) {
    const auto& block = wish_.blocks[index];
    auto environment = environment_of(block);
    for (int i = 0; i < block.rank_count; ++i, ++rank)
      if (!start_rank(rank, block, paths_[index], environment)) return false;
  }
  return true;
}

}  // namespace headway::mpiexec
