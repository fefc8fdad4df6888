// Runs a program and refuses one of its system calls, by ptrace, so that calls are seen which
// libraries make inside themselves: memory of malloc, descriptors of getaddrinfo, threads of
// std::thread.
//
//   refusing_tracer OBJECT RECORD COMMAND…                          records every call
//   refusing_tracer OBJECT RECORD@CALL:SITE:NUMBER:ERRNO COMMAND…   refuses one
//
// OBJECT  The end of the path of a library or program. Only calls count on whose stack it is, so
//         that what the loader does before it runs does not count.
// SITE    Which call it is: a hash of the three innermost return addresses in OBJECT.
// NUMBER  Which of the calls from this site, of all threads and processes, counted from 1.
// RECORD  A file to which a line is added for each call that counts, or for the one that is
//         refused: its number in the kernel, its second argument, SITE, how many functions of other
//         libraries lie between OBJECT and the kernel, and the return addresses within OBJECT.
//
// Ends as the program does, and the program ends when this one does.
#include <fcntl.h>
#include <libunwind-ptrace.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t site_frames = 3;
constexpr int stack_frames_max = 64;

struct refusal {
  unsigned long call = 0;
  std::uint64_t site = 0;
  long number = 0;
  int error = 0;
};

struct plan {
  std::string object;
  std::string record;
  std::optional<refusal> one;
};

plan plan_of(const char* object, std::string record) {
  plan made{object, {}, {}};
  if (const auto at = record.rfind('@'); at != std::string::npos) {
    refusal one;
    if (std::sscanf(record.c_str() + at, "@%lu:%lx:%ld:%d", &one.call, &one.site, &one.number,
                    &one.error) != 4) {
      std::fputs("refusing_tracer: the refusal is not understood\n", stderr);
      std::exit(2);
    }
    made.one = one;
    record.resize(at);
  }
  made.record = record;
  return made;
}

// Ends of threads and processes, the return from a signal, and what the kernel starts again itself
// are no calls that can be refused.
constexpr std::array unrefusable{SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall};

/// The kernel stops this process and its children at the call, or at every one.
void stop_at(const std::optional<refusal>& one) {
  constexpr auto number_at = static_cast<unsigned>(offsetof(seccomp_data, nr));
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number_at)};
  if (one) {
    const auto call = static_cast<unsigned>(one->call);
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 1, 0));
  } else {
    for (const long call : unrefusable) {
      const auto number = static_cast<unsigned>(call);
      filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
      filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    std::perror("refusing_tracer: seccomp");
    std::_Exit(2);
  }
}

/// Where code of the object lies in a process, as the kernel last said.
class object_in {
 public:
  explicit object_in(std::string_view end) : end_(end) {}

  /// The address within the object, or nothing.
  std::optional<std::uint64_t> inside(pid_t process, std::uint64_t address) {
    if (const auto* const found = range_with(address)) return within(*found, address);
    read(process);
    const auto* const found = range_with(address);
    return found ? within(*found, address) : std::nullopt;
  }

 private:
  struct range {
    std::uint64_t from = 0, to = 0, offset = 0;
    bool is_object = false;
  };

  static std::optional<std::uint64_t> within(const range& of, std::uint64_t address) {
    if (!of.is_object) return std::nullopt;
    return address - of.from + of.offset;
  }

  const range* range_with(std::uint64_t address) const {
    for (const auto& one : ranges_) {
      if (address >= one.from && address < one.to) return &one;
    }
    return nullptr;
  }

  void read(pid_t process) {
    ranges_.clear();
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      range one;
      std::array<char, 5> rights{};
      if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &one.from, &one.to, rights.data(),
                      &one.offset) != 4 ||
          rights[2] != 'x') {
        continue;
      }
      one.is_object = line.ends_with(end_);
      ranges_.push_back(one);
    }
  }

  std::string end_;
  std::vector<range> ranges_;
};

class tracer {
 public:
  explicit tracer(const plan& made)
      : plan_(made),
        object_(made.object),
        space_(unw_create_addr_space(&_UPT_accessors, 0)),
        record_(std::fopen(made.record.c_str(), "ae")) {
    unw_set_caching_policy(space_, UNW_CACHE_GLOBAL);
    if (record_ == nullptr) {
      std::perror("refusing_tracer: the record");
      std::exit(2);
    }
  }

  /// Until the first process has ended; its status.
  int run(pid_t first) {
    for (;;) {
      int status = 0;
      const pid_t thread = waitpid(-1, &status, __WALL);
      if (thread < 0) return 0;
      if (!WIFSTOPPED(status)) {
        if (thread == first) return status;
        continue;
      }
      go_on(thread, status);
    }
  }

 private:
  void go_on(pid_t thread, int status) {
    const int event = status >> 16;
    if (event == PTRACE_EVENT_SECCOMP && see(thread)) {
      ptrace(PTRACE_SYSCALL, thread, nullptr, nullptr);
      return;
    }
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {  // the end of the call that `see` let run
      user_regs_struct registers{};
      ptrace(PTRACE_GETREGS, thread, nullptr, &registers);
      answer(thread, registers);
      ptrace(PTRACE_CONT, thread, nullptr, nullptr);
      return;
    }
    if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {  // stopped with its group
      ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);
      return;
    }
    const long signal = event == 0 ? WSTOPSIG(status) : 0;
    ptrace(PTRACE_CONT, thread, nullptr, signal);
  }

  void answer(pid_t thread, user_regs_struct& registers) const {
    if (plan_.one->call == SYS_brk) {
      registers.rdi = break_;
    } else {
      registers.rax = static_cast<unsigned long long>(-plan_.one->error);
    }
    ptrace(PTRACE_SETREGS, thread, nullptr, &registers);
  }

  /// Whether the call runs, and `answer` follows at its end: a descriptor is closed in any case,
  /// and a break that cannot be moved is reported as it is.
  bool see(pid_t thread) {
    const auto frames = own_frames(thread);
    if (frames.empty()) return false;
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, thread, nullptr, &registers);
    const auto site = site_of(frames);
    if (!plan_.one) {
      record(registers, site, frames);
      return false;
    }
    if (site != plan_.one->site || ++calls_ != plan_.one->number) return false;
    record(registers, site, frames);
    if (plan_.one->call == SYS_close) return true;
    if (plan_.one->call == SYS_brk) {
      break_ = std::exchange(registers.rdi, 0);
      ptrace(PTRACE_SETREGS, thread, nullptr, &registers);
      return true;
    }
    registers.orig_rax = ~0ULL;  // no call
    answer(thread, registers);
    return false;
  }

  /// The return addresses on the thread's stack that are in the object, the innermost first.
  std::vector<std::uint64_t> own_frames(pid_t thread) {
    std::vector<std::uint64_t> found;
    outside_ = 0;
    void* const about = _UPT_create(thread);
    unw_cursor_t cursor;
    if (unw_init_remote(&cursor, space_, about) == 0) {
      for (int depth = 0; depth < stack_frames_max; ++depth) {
        unw_word_t address = 0;
        if (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || address == 0) break;
        if (const auto own = object_.inside(thread, address)) found.push_back(*own);
        if (found.empty()) ++outside_;
        if (unw_step(&cursor) <= 0) break;
      }
    }
    _UPT_destroy(about);
    return found;
  }

  static std::uint64_t site_of(const std::vector<std::uint64_t>& frames) {
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a
    for (std::size_t at = 0; at < frames.size() && at < site_frames; ++at) {
      hash = (hash ^ frames[at]) * 1099511628211U;
    }
    return hash;
  }

  void record(const user_regs_struct& registers, std::uint64_t site,
              const std::vector<std::uint64_t>& frames) {
    std::fprintf(record_, "%llu %llx %lx %d", registers.orig_rax, registers.rsi, site, outside_);
    for (const auto frame : frames) std::fprintf(record_, " %lx", frame);
    std::fputc('\n', record_);
    std::fflush(record_);
  }

  const plan& plan_;
  object_in object_;
  unw_addr_space_t space_;
  std::FILE* record_;
  long calls_ = 0;
  unsigned long long break_ = 0;  // that the refused call wanted
  int outside_ = 0;               // return addresses inside of the first in the object
};

void run_program(const plan& made, int go, char** command) {
  char byte = 0;
  if (read(go, &byte, 1) != 1) std::_Exit(2);
  close(go);
  stop_at(made.one);
  execvp(command[0], command);
  std::perror(command[0]);
  std::_Exit(127);
}

int end_as(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  std::signal(WTERMSIG(status), SIG_DFL);
  std::raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("refusing_tracer OBJECT RECORD[@CALL:SITE:NUMBER:ERRNO] COMMAND…\n", stderr);
    return 2;
  }
  const auto made = plan_of(argv[1], argv[2]);
  std::array<int, 2> go{};
  if (pipe2(go.data(), O_CLOEXEC) != 0) return 2;
  const pid_t program = fork();
  if (program == 0) run_program(made, go[0], argv + 3);
  constexpr unsigned long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP |
                                    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                                    PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
  if (program < 0 || ptrace(PTRACE_SEIZE, program, nullptr, options) != 0) {
    std::perror("refusing_tracer: ptrace");
    return 2;
  }
  tracer one(made);
  if (write(go[1], "g", 1) != 1) return 2;
  close(go[0]);
  return end_as(one.run(program));
}
