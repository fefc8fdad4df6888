#include "mpi/one_sided/attached_operations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

namespace headway::mpi {
namespace {

constexpr int lost = 1;  // an error code

/// Calls a function in `after_end`.
template <class End>
class calling final : public request_attachment {
 public:
  explicit calling(End end) : end_(end) {}
  void before_start() noexcept override {}
  void after_end() noexcept override { end_(); }
  [[nodiscard]] bool may_be_abandoned() const noexcept override { return false; }

 private:
  End end_;
};

template <class End>
std::unique_ptr<request_attachment> call(End end) {
  return std::make_unique<calling<End>>(end);
}

TEST(attached_operations, end_once_with_a_synchronisation_of_their_rank_or_of_all) {
  attached_operations attached;
  std::array<int, 2> ends{};
  for (int rank = 0; rank < 2; ++rank)
    attached.add(rank, call([&ends, rank] { ++ends[static_cast<std::size_t>(rank)]; }));
  const auto wait = [] { return MPI_SUCCESS; };
  EXPECT_EQ(attached.synchronise(1, wait), MPI_SUCCESS);
  EXPECT_EQ(ends, (std::array{0, 1}));
  EXPECT_EQ(attached.synchronise(attached_operations::all_ranks, wait), MPI_SUCCESS);
  EXPECT_EQ(ends, (std::array{1, 1}));
  EXPECT_EQ(attached.synchronise(attached_operations::all_ranks, wait), MPI_SUCCESS);
  EXPECT_EQ(ends, (std::array{1, 1}));
}

TEST(attached_operations, stay_attached_when_a_synchronisation_fails) {
  attached_operations attached;
  int ends = 0;
  attached.add(0, call([&] { ++ends; }));
  EXPECT_EQ(attached.synchronise(0, [] { return lost; }), lost);
  EXPECT_EQ(ends, 0);
  EXPECT_EQ(attached.synchronise(0, [] { return MPI_SUCCESS; }), MPI_SUCCESS);
  EXPECT_EQ(ends, 1);
}

// Each thread begins operations, attaches something to each, and synchronises. A wait completes all
// operations that were begun before it by any thread. None is ended before it is complete, and each
// thread's own is when its synchronisation has returned.
TEST(attached_operations, of_several_threads_end_after_their_data_and_before_their_call_returns) {
  constexpr std::size_t threads = 3;
  constexpr int operations = 5000;
  attached_operations attached;
  std::array<std::atomic<int>, threads> begun{}, complete{}, ended{};
  std::atomic<int> too_early{0}, too_late{0};
  const auto wait = [&] {
    std::array<int, threads> until{};
    for (std::size_t i = 0; i < threads; ++i) until[i] = begun[i].load();
    std::this_thread::yield();
    for (std::size_t i = 0; i < threads; ++i) {
      int known = complete[i].load();
      while (known < until[i] && !complete[i].compare_exchange_weak(known, until[i])) {
      }
    }
    return MPI_SUCCESS;
  };
  const auto work = [&](std::size_t me) {
    for (int number = 1; number <= operations; ++number) {
      begun[me].store(number);
      attached.add(0, call([&, me, number] {
                     if (complete[me].load() < number) ++too_early;
                     ended[me].store(number);
                   }));
      (void)attached.synchronise(0, wait);
      if (ended[me].load() != number) ++too_late;
    }
  };
  std::vector<std::jthread> running;
  for (std::size_t i = 0; i < threads; ++i) running.emplace_back(work, i);
  running.clear();
  EXPECT_EQ(too_early.load(), 0);
  EXPECT_EQ(too_late.load(), 0);
}

}  // namespace
}  // namespace headway::mpi
