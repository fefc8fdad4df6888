#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "base/lock_guard.hpp"
#include "counted_sections.hpp"
#include "windows/control_line.hpp"

namespace headway::windows {
namespace {

/// A lock that this process and its children map.
struct shared_lock {
  shared_lock()
      : at(new(mmap(nullptr, sizeof(change_lock), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0)) change_lock) {}
  ~shared_lock() { munmap(at, sizeof *at); }
  shared_lock(const shared_lock&) = delete;
  shared_lock& operator=(const shared_lock&) = delete;
  /// What another thread or process has taken.
  void release() const HEADWAY_NO_THREAD_SAFETY_ANALYSIS { at->unlock(); }
  change_lock* const at;
};

/// A child that takes the lock, does something and ends.
template <class Something>
pid_t child_that_locks(const shared_lock& shared, Something something) {
  int locked[2];
  if (pipe(locked) != 0) return -1;
  const auto child = fork();
  if (child == 0) {
    char byte = shared.at->lock(own_holder()) ? 'y' : 'n';
    static_cast<void>(!write(locked[1], &byte, 1));
    something();
    _exit(0);
  }
  char byte = 'n';
  const bool well = read(locked[0], &byte, 1) == 1 && byte == 'y';
  close(locked[0]);
  close(locked[1]);
  return well ? child : -1;
}

TEST(change_lock, orders_what_its_holders_write) {
  change_lock lock;
  const auto me = own_holder();
  testing::expect_ordered_sections([&](const auto& count) {
    if (!lock.lock(me)) return;
    const base::lock_guard held(lock, std::adopt_lock);
    count();
  });
}

TEST(change_lock, refuses_all_others_once_its_holder_has_died) {
  const shared_lock shared;
  const auto child = child_that_locks(shared, [] {});
  ASSERT_GT(child, 0);
  EXPECT_FALSE(shared.at->lock(own_holder())) << "its parent has not waited for it";
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(shared.at->lock(own_holder()));
}

TEST(change_lock, waits_for_a_holder_that_runs) {
  const shared_lock shared;
  const auto child = child_that_locks(shared, [&] {
    usleep(200'000);  // longer than the time between two looks
    shared.release();
  });
  ASSERT_GT(child, 0);
  ASSERT_TRUE(shared.at->lock(own_holder()));
  shared.release();
  waitpid(child, nullptr, 0);
}

TEST(change_lock, waits_for_a_holder_of_which_nothing_is_known) {
  const shared_lock shared;
  ASSERT_TRUE(shared.at->lock(holder_of({.pid_namespace = 1, .pid = 1})));
  std::thread later([&] {
    usleep(100'000);
    shared.release();
  });
  EXPECT_TRUE(shared.at->lock(own_holder()));
  later.join();
}

}  // namespace
}  // namespace headway::windows
