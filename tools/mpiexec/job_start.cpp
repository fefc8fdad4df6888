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
#include "launch/spawn_request.hpp"
#include "tools/mpiexec/job_events.hpp"
#include "tools/mpiexec/job_runner.hpp"
#include "tools/mpiexec/program.hpp"
#include "tools/mpiexec/words.hpp"

namespace headway::mpiexec {
namespace {

constexpr int forwarded_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                     SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

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

/// With it, glibc registers no restartable sequences, which the kernel has to look after each time
/// that another process gets the processor (docs/decisions/0044-ranks-without-rseq.md).
/// A value that the user has given stays.
void switch_off_rseq(std::vector<std::string>& environment) {
  constexpr std::string_view entry = "GLIBC_TUNABLES=", tunable = "glibc.pthread.rseq";
  const auto found =
      std::ranges::find_if(environment, [&](const auto& text) { return text.starts_with(entry); });
  if (found == environment.end()) {
    environment.push_back(fmt::format("{}{}=0", entry, tunable));
  } else if (!found->contains(tunable)) {
    *found += fmt::format("{}{}=0", *found == entry ? "" : ":", tunable);
  }
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

std::vector<std::string> inherited_environment(const char* const* ambient) {
  std::vector<std::string> made;
  for (auto entry = ambient; *entry; ++entry)
    if (!launch::is_of_outer_launcher(*entry)) made.emplace_back(*entry);
  return made;
}

job_runner::job_runner(const options& wish, const machine_places& machine,
                       const char* const* ambient)
    : wish_(wish),
      machine_(machine),
      ambient_(ambient),
      job_name_(fmt::format("hw-{}-{}", getpid(), random_hex(4))),
      ranks_(static_cast<std::size_t>(wish.rank_count())) {
  job_facts facts{wish.rank_count(), job_name_, random_hex(32), {}};
  for (std::size_t block = 0; block < wish.blocks.size(); ++block)
    facts.program_of_rank.insert(
        facts.program_of_rank.end(),
        static_cast<std::size_t>(wish.blocks[block].rank_count.value_or(1)),
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
  if (!wish_.debugged) return true;
  const launch::environment around(ambient_);
  debugger_ = find_in_path("gdb", std::string(around.find("PATH").value_or("/usr/bin:/bin")));
  if (!debugger_.empty()) return true;
  say("--gdb: gdb is not found in PATH");
  exit_code_ = 127;
  return false;
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

/// Signals are read from a descriptor from here on.
bool job_runner::open_watches() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int number : forwarded_signals) {
    struct sigaction found;
    sigaction(number, nullptr, &found);
    if (found.sa_handler != SIG_IGN) sigaddset(&taken, number);  // nohup and "&" mean it
  }
  sigprocmask(SIG_BLOCK, &taken, &old_mask_);
  if (signal(SIGPIPE, SIG_IGN) != SIG_IGN) default_signals_.push_back(SIGPIPE);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  signals_ = epoll_ < 0 ? -1 : signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ >= 0 && watch(signals_, mark(event_kind::signal), EPOLLIN)) return true;
  const char* const call = epoll_ < 0 ? "epoll_create1" : signals_ < 0 ? "signalfd" : "epoll_ctl";
  say(fmt::format("the job cannot be started: {}: {}", call, strerror(errno)));
  return false;
}

std::vector<std::string> job_runner::environment_of(const program_block& block) const {
  auto made = inherited_environment(ambient_);
  // The processes that have started this job wait at that port.
  if (const auto port = launch::environment(ambient_).find("HEADWAY_SPAWN_PORT"))
    set(made, "HEADWAY_PARENT_PORT", std::string(*port));
  // A rank cannot learn it from affinity masks if it is bound, or if its parent is a script.
  const auto processors = machine_places::allowed_here().size();
  set(made, "HEADWAY_NODE_PROCESSORS", std::to_string(processors));
  for (const auto& [name, value] : wish_.environment) set(made, name, value);
  for (const auto& [name, value] : block.environment) set(made, name, value);
  if (ranks_.size() > processors) switch_off_rseq(made);
  set(made, "PMI_SIZE", std::to_string(ranks_.size()));
  set(made, "PMI_JOBID", job_name_);
  set(made, "MPI_LOCALNRANKS", std::to_string(ranks_.size()));
  return made;
}

std::vector<std::string> job_runner::shared_folders() const {
  constexpr std::string_view entry = "HEADWAY_SHM_DIR=";
  std::vector<std::string> found{"/dev/shm"};
  for (const auto& block : wish_.blocks)
    for (const auto& text : environment_of(block))
      if (text.starts_with(entry)) found.push_back(text.substr(entry.size()));
  return found;
}

/// The program with its arguments; in front of them the debugger, if the rank is to run in one.
std::vector<std::string> job_runner::command_of(int rank, const program_block& block,
                                                const std::string& path) const {
  if (!wish_.debugged || !wish_.debugged->has(rank)) return block.command;
  std::vector<std::string> command{"gdb", "-q", "--args", path};
  command.insert(command.end(), block.command.begin() + 1, block.command.end());
  return command;
}

void job_runner::report(int rank, const std::string& path,
                        const machine_places::place& processors) const {
  if (wish_.verbose)
    say(fmt::format("rank {} is process {}, {}", rank, ranks_[static_cast<std::size_t>(rank)].pid,
                    printable(path)));
  if (!wish_.report_bindings) return;
  say(processors.empty()
          ? fmt::format("rank {} is not bound: it may use processors {}", rank,
                        processor_text(machine_places::allowed_here()))
          : fmt::format("rank {} is bound to processors {}", rank, processor_text(processors)));
}

bool job_runner::start_rank(int rank, const program_block& block, const std::string& path,
                            std::vector<std::string>& environment) {
  auto& made = at(rank);
  made.program = &block;
  int wire[2] = {-1, -1};
  child_plan plan{.signal_mask = old_mask_,
                  .descriptor_limit = old_limit_ ? &*old_limit_ : nullptr,
                  .ignored_signals = &default_signals_};
  struct stat socket_facts{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wire) != 0 ||
      fstat(wire[1], &socket_facts) != 0 ||
      !watch(wire[0], mark(event_kind::wire, rank), EPOLLIN) || !open_input(rank, plan) ||
      !open_output(rank, plan)) {
    say(fmt::format("rank {} cannot be started: {}", rank, strerror(errno)));
    return false;
  }
  made.wire = wire[0];
  const auto common = environment.size();
  environment.push_back(fmt::format("PMI_RANK={}", rank));
  environment.push_back(fmt::format("PMI_FD={}", wire[1]));
  environment.push_back(fmt::format("MPI_LOCALRANKID={}", rank));
  environment.push_back(fmt::format("HEADWAY_WIRE={}", socket_facts.st_ino));
  const auto command = command_of(rank, block, path);
  const auto arguments = pointers_to(command), entries = pointers_to(environment);
  const auto processors = machine_.of_rank(rank, wish_.placement);
  const auto mask = mask_of(processors);
  plan.path = command.size() == block.command.size() ? path.c_str() : debugger_.c_str();
  plan.arguments = arguments.data();
  plan.environment = entries.data();
  plan.directory = block.directory.empty() ? nullptr : block.directory.c_str();
  plan.processors = processors.empty() ? nullptr : &mask;
  plan.kept = wire[1];
  const auto started = spawn_program(plan, command);
  environment.resize(common);
  close(wire[1]);
  close_streams(plan);
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
  if (made.process < 0 || !watch(made.process, mark(event_kind::process, rank), EPOLLIN))
    polls_ends_ = true;
  report(rank, path, processors);
  return true;
}

bool job_runner::start_ranks() {
  int rank = 0;
  for (std::size_t index = 0; index < wish_.blocks.size(); ++index) {
    const auto& block = wish_.blocks[index];
    auto environment = environment_of(block);
    for (int i = 0; i < block.rank_count.value_or(1); ++i, ++rank)
      if (!start_rank(rank, block, paths_[index], environment)) return false;
  }
  if (!wish_.placement.chosen_by_default) return true;
  std::vector<machine_places::place> places;
  for (int bound = 0; bound < rank; ++bound)
    places.push_back(machine_.of_rank(bound, wish_.placement));
  balance_.emplace(places, base::machine_now_ns());
  return true;
}

}  // namespace headway::mpiexec
