#include "base/file_size_errors.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace headway::base::file_size_errors_tests {
namespace {

constexpr off_t allowed = 4096;

/// A process that may not make files larger than `allowed`.
struct file_size_errors_test : ::testing::Test {
  file_size_errors_test() {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{.rlim_cur = allowed, .rlim_max = before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  ~file_size_errors_test() override {
    setrlimit(RLIMIT_FSIZE, &before);
    close(file);
  }
  [[nodiscard]] static bool is_blocked() {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return sigismember(&now, SIGXFSZ) == 1;
  }
  [[nodiscard]] static bool is_pending() {
    sigset_t now;
    sigpending(&now);
    return sigismember(&now, SIGXFSZ) == 1;
  }
  rlimit before{};
  int file = memfd_create("file_size_errors_test", MFD_CLOEXEC);
};

TEST_F(file_size_errors_test, a_file_that_would_be_too_large_is_an_error_and_no_signal) {
  {
    const file_size_errors meanwhile;
    EXPECT_EQ(ftruncate(file, allowed), 0);
    EXPECT_EQ(ftruncate(file, allowed + 1), -1);
    EXPECT_EQ(errno, EFBIG);
  }
  EXPECT_EQ(errno, EFBIG);
  EXPECT_FALSE(is_pending());
  EXPECT_FALSE(is_blocked());
}

TEST_F(file_size_errors_test, a_signal_that_waited_before_waits_afterwards) {
  sigset_t set, mask;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, &mask);
  raise(SIGXFSZ);
  {
    const file_size_errors meanwhile;
    EXPECT_EQ(ftruncate(file, allowed + 1), -1);
  }
  EXPECT_TRUE(is_pending());
  EXPECT_TRUE(is_blocked());
  const timespec at_once{};
  EXPECT_EQ(sigtimedwait(&set, nullptr, &at_once), SIGXFSZ);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

TEST_F(file_size_errors_test, without_it_the_signal_ends_the_process) {
  EXPECT_EXIT(static_cast<void>(ftruncate(file, allowed + 1)), ::testing::KilledBySignal(SIGXFSZ),
              "");
}

}  // namespace
}  // namespace headway::base::file_size_errors_tests
