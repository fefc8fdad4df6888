// The second half of job_runner: serving the ranks, watching them, ending them.
#include "tools/mpiexec/job_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "base/clock.hpp"
#include "tools/mpiexec/job_events.hpp"
#include "tools/mpiexec/words.hpp"

namespace headway::mpiexec {
namespace {

constexpr int exit_timed_out = 124;
constexpr std::uint64_t end_poll_period_ns = 10'000'000;

bool deadly(int signal_number) {
  return signal_number == SIGINT || signal_number == SIGTERM || signal_number == SIGHUP ||
         signal_number == SIGQUIT;
}

void close_once(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

}  // namespace

job_runner::~job_runner() {
  for (auto& one : ranks_) {
    close_once(one.wire);
    close_once(one.process);
  }
  for (int* descriptor : {&signals_, &null_input_, &epoll_}) close_once(*descriptor);
}

int job_runner::run() {
  if (!find_programs()) return exit_code_;
  raise_descriptor_limit();
  if (!open_watches() || !prepare_streams()) return 1;
  jobs_.emplace(started_jobs::surroundings{.environment = ambient_,
                                           .signal_mask = &old_mask_,
                                           .ignored_signals = &default_signals_,
                                           .input = null_input_});
  shared_folders_ = shared_folders();
  guardian_ = std::make_unique<guardian>(job_name_, shared_folders_, ranks_.size());
  const bool started = start_ranks();
  if (!start_streams() || !started) {
    if (exit_code_ == 0) exit_code_ = 1;
    ending_ = true;
    end_ranks();
  }
  if (wish_.timeout_s)
    timeout_at_ns_ = base::machine_now_ns() + static_cast<std::uint64_t>(*wish_.timeout_s * 1e9);
  while (living_ > 0 || jobs_->any_running()) serve();
  input_.reset();
  settle_verdict();
  wait_for_output();
  clean_up();
  return exit_code_ != 0 ? exit_code_ : jobs_->exit_code();
}

bool job_runner::watch(int descriptor, std::uint64_t mark, std::uint32_t events, bool change) {
  epoll_event wish{.events = events, .data = {.u64 = mark}};
  return epoll_ctl(epoll_, change ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &wish) == 0;
}

/// One batch of events. Deaths come last, so that what a rank sent before it died is read first.
void job_runner::serve() {
  epoll_event found[128];
  const int count = epoll_wait(epoll_, found, 128, wait_ms());
  std::vector<int> dead;
  for (int i = 0; i < count; ++i) {
    const auto kind = static_cast<event_kind>(found[i].data.u64 >> 32);
    const auto rank = static_cast<int>(found[i].data.u64 & 0xffff'ffff);
    switch (kind) {
      case event_kind::signal:
        take_signal();
        break;
      case event_kind::process:
        dead.push_back(rank);
        break;
      case event_kind::wire:
        if (found[i].events & EPOLLOUT) send_replies(rank);
        receive(rank);
        break;
      case event_kind::started_job:
        jobs_->look();
        epoll_ctl(epoll_, EPOLL_CTL_DEL, static_cast<int>(found[i].data.u64 & 0xffff'ffff),
                  nullptr);
        break;
      case event_kind::output_finished:
        output_finished_ = true;
        epoll_ctl(epoll_, EPOLL_CTL_DEL, pump_->finished_descriptor(), nullptr);
        break;
    }
  }
  for (const int rank : dead) note_end(rank);
  look_at_clock();
}

int job_runner::wait_ms() const {
  std::uint64_t next = UINT64_MAX;
  for (const auto at : {verdict_at_ns_, kill_at_ns_, timeout_at_ns_})
    if (at != 0) next = std::min(next, at);
  if (balance_) next = std::min(next, balance_->next_look_ns());
  const auto now = base::machine_now_ns();
  if (polls_ends_) next = std::min(next, now + end_poll_period_ns);
  if (next == UINT64_MAX) return -1;
  return next <= now ? 0
                     : static_cast<int>(
                           std::min<std::uint64_t>((next - now) / 1'000'000 + 1, 1'000'000'000));
}

void job_runner::look_at_clock() {
  const auto now = base::machine_now_ns();
  const auto due = [now](std::uint64_t& at) {
    return at != 0 && at <= now && std::exchange(at, 0) != 0;
  };
  if (due(verdict_at_ns_)) settle_verdict();
  if (due(timeout_at_ns_) && !ending_) {
    say(fmt::format("the job ran longer than {} s; ending its ranks", *wish_.timeout_s));
    exit_code_ = exit_timed_out;
    end_ranks();
  }
  if (due(kill_at_ns_)) kill_groups(SIGKILL);
  if (balance_ && balance_->next_look_ns() <= now) look_at_balance(now);
  if (!polls_ends_) return;
  jobs_->look();
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
    if (at(rank).alive) note_end(rank);
}

/// Without memory the ranks stay bound.
void job_runner::look_at_balance(std::uint64_t now_ns) noexcept try {
  std::vector<std::optional<processor_use>> uses;
  for (const auto& one : ranks_) uses.push_back(one.alive ? use_of(one.pid) : std::nullopt);
  if (!balance_->look(now_ns, uses)) return;
  balance_.reset();
  if (wish_.verbose || wish_.report_bindings)
    say("ranks waited for processors while others were idle; they are not bound any more");
  const auto all = mask_of(machine_places::allowed_here());
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
    if (at(rank).alive)
      change_processors(at(rank).pid, mask_of(machine_.of_rank(rank, wish_.placement)), all);
} catch (const std::exception&) {
  balance_.reset();
}

void job_runner::receive(int rank) {
  auto& from = at(rank);
  char block[16'384];
  while (from.wire >= 0) {
    const auto got = recv(from.wire, block, sizeof block, MSG_DONTWAIT);
    if (got > 0) {
      server_->receive(rank, {block, static_cast<std::size_t>(got)});
    } else if (got == 0 || errno == ECONNRESET) {
      close_once(from.wire);
    } else if (errno == EAGAIN || errno == ENOMEM) {  // it is reported again
      return;
    } else if (errno != EINTR) {
      cannot_serve(rank, "recv");
    }
  }
}

void job_runner::reply(int rank, std::shared_ptr<const std::string> bytes) {
  at(rank).replies.push_back(std::move(bytes));
  send_replies(rank);
}

void job_runner::send_replies(int rank) {
  auto& to = at(rank);
  while (to.wire >= 0 && !to.replies.empty()) {
    const auto& first = *to.replies.front();
    const auto sent = send(to.wire, first.data() + to.sent_of_first,
                           first.size() - to.sent_of_first, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM))
      return wait_for_room(rank, true);
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {  // the rank has closed it
      receive(rank);
      return close_once(to.wire);
    }
    if (sent < 0 && errno != EINTR) return cannot_serve(rank, "send");
    if (sent > 0) to.sent_of_first += static_cast<std::size_t>(sent);
    if (to.sent_of_first < first.size()) continue;
    to.replies.pop_front();
    to.sent_of_first = 0;
  }
  if (to.wire >= 0) wait_for_room(rank, false);
}

/// Whether the rank's connection is reported when it has room again.
void job_runner::wait_for_room(int rank, bool waits) {
  auto& to = at(rank);
  if (std::exchange(to.waits_for_room, waits) == waits) return;
  const std::uint32_t events = waits ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (!watch(to.wire, mark(event_kind::wire, rank), events, true)) cannot_serve(rank, "epoll_ctl");
}

void job_runner::cannot_serve(int rank, const char* call) {
  blame({rank, 1, weight::left,
         fmt::format("cannot be served any more: {}: {}", call, strerror(errno))});
  close_once(at(rank).wire);
}

/// `rank` has ended. It stays a zombie until `clean_up`, so that the number of its process group
/// cannot be given to another process.
void job_runner::note_end(int rank) {
  auto& gone = at(rank);
  receive(rank);
  siginfo_t found{};
  if (!gone.alive ||
      waitid(P_PID, static_cast<id_t>(gone.pid), &found, WEXITED | WNOWAIT | WNOHANG) != 0 ||
      found.si_pid == 0)
    return;
  gone.alive = false;
  --living_;
  close_once(gone.process);
  if (found.si_code != CLD_EXITED) {
    blame({rank, exit_signal_base + found.si_status, weight::killed,
           "was killed by " + signal_words(found.si_status)});
  } else if (server_->inside(rank)) {
    blame({rank, found.si_status == 0 ? 1 : found.si_status, weight::left,
           fmt::format("left with exit code {} before MPI_Finalize", found.si_status)});
  } else if (found.si_status != 0) {
    blame({rank, found.si_status, weight::reported,
           fmt::format("returned exit code {}", found.si_status)});
  }
  server_->rank_ended(rank);
}

void job_runner::abort_wanted(int rank, int exit_code, std::string why) {
  // An exit code has eight bits; 256 must not become success.
  const int code = exit_code != 0 && (exit_code & 0xff) == 0 ? 1 : exit_code & 0xff;
  auto cause = fmt::format("aborted the job with code {}", exit_code);
  if (!why.empty()) cause += ": " + printable(std::move(why));
  blame({rank, code, weight::reported, std::move(cause)});
}

void job_runner::protocol_broken(int rank, std::string what) {
  blame({rank, 1, weight::left, "broke the PMI protocol: " + printable(std::move(what))});
}

base::result<pid_t> job_runner::spawn_wanted(const launch::spawn_request& what) {
  if (ending_) return base::failed(base::fault_kind::refused, "the job is being ended");
  const auto started = jobs_->start(what);
  if (!started) return std::unexpected(started.error());
  if (started->watch < 0 ||
      !watch(started->watch, mark(event_kind::started_job, started->watch), EPOLLIN))
    polls_ends_ = true;
  return started->process;
}

void job_runner::blame(verdict found) {
  if (ending_) return;  // the ranks end because mpiexec ends them
  if (!pending_ || (found.strength > pending_->strength && found.rank != pending_->rank)) {
    if (!pending_) verdict_at_ns_ = base::machine_now_ns() + verdict_delay_ns;
    if (found.strength == weight::killed) verdict_at_ns_ = base::machine_now_ns();
    pending_ = std::move(found);
  }
}

std::string job_runner::describe(int rank) const {
  const auto& one = ranks_[static_cast<std::size_t>(rank)];
  return fmt::format("rank {} ({}, process {})", rank, printable(one.program->command.front()),
                     one.pid);
}

void job_runner::settle_verdict() {
  verdict_at_ns_ = 0;
  if (!pending_ || ending_) return;
  const auto found = *std::exchange(pending_, std::nullopt);
  if (exit_code_ == 0) exit_code_ = found.exit_code;
  std::string line;
  if (forwarded_signal_ != 0 && found.exit_code == exit_signal_base + forwarded_signal_)
    line = fmt::format("ended by {}", signal_words(forwarded_signal_));
  else line = describe(found.rank) + " " + found.cause;
  if (living_ > 0)
    line += wish_.keep_going ? fmt::format("; {} others run on", living_)
                             : fmt::format("; ending the other ranks ({})", living_);
  say(line);
  if (!wish_.keep_going) end_ranks();
}

void job_runner::end_ranks() {
  ending_ = true;
  kill_groups(SIGTERM);
  kill_groups(SIGCONT);  // a stopped rank handles SIGTERM only when it continues
  kill_at_ns_ = base::machine_now_ns() + kill_delay_ns;
}

/// Sends a signal to every rank's process group, also if the rank has ended: its children may run.
void job_runner::kill_groups(int signal_number) noexcept {
  for (const auto& one : ranks_)
    if (one.pid > 0) kill(-one.pid, signal_number);
  if (jobs_) jobs_->send_signal(signal_number);
}

void job_runner::take_signal() {
  signalfd_siginfo found;
  while (read(signals_, &found, sizeof found) == sizeof found) {
    const int number = static_cast<int>(found.ssi_signo);
    if (deadly(number)) {
      const bool to_debugger = wish_.debugged && number == SIGINT;  // it stops the program
      const bool again = !to_debugger && std::exchange(forwarded_signal_, number) != 0;
      kill_groups(again ? SIGKILL : number);
      if (again && output_only_) _exit(exit_signal_base + number);  // the output has no reader
      continue;
    }
    kill_groups(number);
    if (number == SIGTSTP) kill(getpid(), SIGSTOP);  // until SIGCONT, which is forwarded
  }
}

void job_runner::wait_for_output() {
  if (!pump_) return;
  output_only_ = true;
  pump_->drain();
  while (!output_finished_) serve();
}

void job_runner::clean_up() {
  kill_groups(SIGKILL);
  for (const auto& one : ranks_)
    if (one.pid > 0) waitpid(one.pid, nullptr, 0);
  remove_shared_files(job_name_, shared_folders_);
  guardian_.reset();
}

}  // namespace headway::mpiexec
