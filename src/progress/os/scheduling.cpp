#include "progress/os/scheduling.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include "base/mutex.hpp"
#include "progress/os/scheduling_attributes.hpp"

namespace headway::progress {
namespace {

base::mutex own_lock;  // cold: start and end of background threads
std::vector<int> own_threads HEADWAY_GUARDED_BY(own_lock);

/// Marks its thread as a background thread during its lifetime.
struct membership {
  membership() : self(gettid()) {
    const base::lock_guard hold(own_lock);
    own_threads.push_back(self);
  }
  ~membership() {
    const base::lock_guard hold(own_lock);
    std::erase(own_threads, self);
  }
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;
  const int self;
};

/// A new thread inherits the signal mask of its creator.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

// A nice value has a quarter more weight than the next: 1.25^5 is 3.
constexpr int nice_of_three_shares = 5;

/// Short slices for the calling thread, and a nice value that is so much less. False: the kernel
/// refuses.
bool set_short_slices(int less_nice) noexcept {
  scheduling_attributes wish;
  wish.nice = getpriority(PRIO_PROCESS, 0) - less_nice;  // of this thread
  wish.runtime = short_slice_ns;
  return set_attributes(0, wish);
}

}  // namespace

std::thread start_thread(const thread_plan& plan, std::function<void()> body) {
  const signals_blocked while_it_is_made;
  try {
    std::thread made([plan, body = std::move(body)] {
      pthread_setname_np(pthread_self(), plan.name.c_str());
      bind_thread(0, plan.processors);
      const membership ours;
      body();
    });
    // Here as well: whichever of the two runs first, neither sees a thread without its name.
    pthread_setname_np(made.native_handle(), plan.name.c_str());
    return made;
  } catch (const std::system_error& why) {
    throw std::system_error(why.code(), "thread " + plan.name + " cannot be made (ulimit -u)");
  }
}

bool is_own_thread(int thread) noexcept {
  const base::lock_guard hold(own_lock);
  return std::ranges::find(own_threads, thread) != own_threads.end();
}

std::vector<int> processors_of_thread(int thread) {
  std::vector<int> processors;
  // The fixed set holds 1024 processors; larger machines answer EINVAL until the set is large
  // enough.
  for (std::size_t count = CPU_SETSIZE; count <= 1u << 20; count *= 2) {
    cpu_set_t* set = CPU_ALLOC(count);
    if (!set) return processors;
    const auto bytes = CPU_ALLOC_SIZE(count);
    const bool known = sched_getaffinity(thread, bytes, set) == 0;
    for (std::size_t p = 0; known && p < count; ++p)
      if (CPU_ISSET_S(p, bytes, set)) processors.push_back(static_cast<int>(p));
    CPU_FREE(set);
    if (known || errno != EINVAL) return processors;
  }
  return processors;
}

bool bind_thread(int thread, const std::vector<int>& processors) noexcept {
  if (processors.empty()) return true;
  const auto count = static_cast<std::size_t>(processors.back()) + 1;
  cpu_set_t* set = CPU_ALLOC(count);
  if (!set) return false;
  const auto bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set);
  for (const int p : processors) CPU_SET_S(static_cast<std::size_t>(p), bytes, set);
  // Refused when the cpuset has shrunk meanwhile: then it runs where its creator may.
  const bool done = sched_setaffinity(thread, bytes, set) == 0;
  CPU_FREE(set);
  return done;
}

std::vector<int> usable_processors(const topology::machine& machine) {
  if (machine.imagined()) return {};
  return machine.places().front().processors;
}

void set_timer_slack(std::uint64_t ns) noexcept { prctl(PR_SET_TIMERSLACK, ns, 0, 0, 0); }

void ask_short_slices() noexcept { set_short_slices(0); }

void ask_short_slices_and_weight() noexcept {
  if (!set_short_slices(nice_of_three_shares)) set_short_slices(0);
}

bool run_in_real_time(int policy) noexcept {
  scheduling_attributes wish;
  wish.policy = static_cast<std::uint32_t>(policy);
  wish.priority = 1;
  return set_attributes(0, wish);
}

bool may_run_when_idle() noexcept {
  rlimit limit{};
  return geteuid() == 0 || (getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur >= 20);
}

void run_when_idle() noexcept {
  scheduling_attributes wish;
  if (may_run_when_idle()) {
    wish.policy = SCHED_IDLE;
  } else {
    wish.nice = 19;
    wish.runtime = short_slice_ns;
  }
  set_attributes(0, wish);
}

void run_when_spare() noexcept {
  scheduling_attributes wish;
  wish.policy = may_run_when_idle() ? SCHED_IDLE : SCHED_BATCH;
  set_attributes(0, wish);
}

std::optional<thread_times> own_times() noexcept {
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char text[96] = {};
  const auto got = ::read(file, text, sizeof text - 1);
  close(file);
  if (got <= 0) return std::nullopt;
  char* rest = text;
  thread_times times;
  times.ran_ns = std::strtoull(rest, &rest, 10);
  times.delayed_ns = std::strtoull(rest, &rest, 10);
  times.turns = std::strtoull(rest, &rest, 10);
  return times;
}

bool may_take_greatest_weight() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur >= 40) return true;
  __user_cap_header_struct who{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct has[2]{};
  if (syscall(SYS_capget, &who, has) != 0) return false;
  return (has[0].effective & (1u << CAP_SYS_NICE)) != 0;
}

bool lift(pid_t thread) noexcept {
  scheduling_attributes wish;
  wish.runtime = short_slice_ns;
  return set_attributes(thread, wish);
}

}  // namespace headway::progress
