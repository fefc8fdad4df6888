#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace headway::progress {

struct thread_plan {
  std::string name;             ///< at most 15 letters
  std::vector<int> processors;  ///< it may run on; empty: those of the thread that starts it
};

/// Starts a thread of ours: named, every signal blocked, on its processors.
[[nodiscard]] std::thread start_thread(const thread_plan& plan, std::function<void()> body);

/// Asks the scheduler for short slices, so that this thread runs soon after it is woken although
/// every core computes (FIELD.md section 6: 3.3 ms become 0.14). Linux before 6.12 takes no notice.
void ask_short_slices() noexcept;

/// The calling thread runs only where nothing else wants to. If the kernel would not let us take it
/// back from there (RLIMIT_NICE), it is made as weak as it can be lifted from: see `lift`.
void run_when_idle() noexcept;

/// Takes a thread of ours out of the idle class, so that it gives back what it holds.
/// False: the kernel forbids it.
bool lift(pid_t thread) noexcept;

}  // namespace headway::progress
