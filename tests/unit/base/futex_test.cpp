#include "base/futex.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "base/clock.hpp"

namespace headway::base {
namespace {

using word = std::atomic<std::uint32_t>;

TEST(futex, does_not_sleep_when_the_word_is_different) {
  word w{1};
  EXPECT_EQ(futex_wait(w, 0), futex_outcome::different);
}

TEST(futex, ends_a_sleep_at_its_absolute_deadline) {
  word w{0};
  const auto until = machine_now_ns() + 10'000'000;
  EXPECT_EQ(futex_wait(w, 0, until), futex_outcome::timed_out);
  EXPECT_GE(machine_now_ns(), until);
}

TEST(futex, wakes_a_sleeper_of_this_process) {
  word w{0};
  std::jthread waker([&] {
    w.store(1, std::memory_order_release);
    futex_wake(w, 1);
  });
  while (w.load(std::memory_order_acquire) == 0) futex_wait(w, 0);
}

TEST(futex, wakes_a_sleeper_of_another_process) {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& w = *new (page) word{0};
  const pid_t child = fork();
  if (child == 0) {
    while (w.load(std::memory_order_acquire) == 0)
      futex_wait(w, 0, no_deadline, futex_scope::between_processes);
    _exit(0);
  }
  w.store(1, std::memory_order_release);
  futex_wake(w, 1, futex_scope::between_processes);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(page, 4096);
}

}  // namespace
}  // namespace headway::base
