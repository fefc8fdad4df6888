#include "files/helper_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <vector>

namespace headway::files {
namespace {

struct counted final : job {
  explicit counted(std::atomic<int>& in) : ended(in) {}
  void run() noexcept override { ended.fetch_add(1); }
  std::atomic<int>& ended;
};

TEST(helper_threads, carry_out_all_jobs_before_they_end) {
  std::atomic<int> ended{0};
  std::vector<std::unique_ptr<counted>> jobs;
  {
    helper_threads threads({});
    for (int i = 0; i < 500; ++i) {
      jobs.push_back(std::make_unique<counted>(ended));
      threads.submit(*jobs.back());
    }
  }
  EXPECT_EQ(ended.load(), 500);
}

struct waiting final : job {
  explicit waiting(std::latch& for_all) : all(for_all) {}
  void run() noexcept override { all.arrive_and_wait(); }
  std::latch& all;
};

TEST(helper_threads, jobs_that_wait_for_each_other_have_a_thread_each) {
  constexpr auto most = helper_threads::threads_max;
  std::latch all(most);
  std::vector<std::unique_ptr<waiting>> jobs;
  helper_threads threads({});
  for (std::size_t i = 0; i < most; ++i) {
    jobs.push_back(std::make_unique<waiting>(all));
    threads.submit(*jobs.back());
  }
  all.wait();
}

}  // namespace
}  // namespace headway::files
