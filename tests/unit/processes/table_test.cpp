#include "processes/table.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

using namespace headway::processes;

namespace {

constexpr std::uint64_t job = job_id_of("job-17");

TEST(process_table, numbers_processes_in_the_order_in_which_they_are_added) {
  table known;
  EXPECT_EQ(known.size(), 0u);
  for (std::uint32_t rank = 0; rank < 1000; ++rank)
    EXPECT_EQ(known.add({job, 7 * rank}), peer_id{rank});
  EXPECT_EQ(known.size(), 1000u);
  for (std::uint32_t rank = 0; rank < 1000; ++rank)
    EXPECT_EQ(known.at(peer_id{rank}), (process_id{job, 7 * rank}));
}

TEST(process_table, a_process_that_is_added_again_keeps_its_number) {
  table known;
  const peer_id first = known.add({job, 3});
  known.add({job, 4});
  EXPECT_EQ(known.add({job, 3}), first);
  EXPECT_EQ(known.size(), 2u);
}

TEST(process_table, the_same_rank_of_two_jobs_is_two_processes) {
  table known;
  const peer_id here = known.add({job, 3});
  const peer_id there = known.add({job_id_of("job-18"), 3});
  EXPECT_NE(here, there);
  EXPECT_EQ(known.find({job, 3}), here);
  EXPECT_EQ(known.find({job_id_of("job-18"), 3}), there);
}

TEST(process_table, finds_only_what_was_added) {
  table known;
  EXPECT_FALSE(known.find({job, 0}));
  for (std::uint32_t rank = 0; rank < 500; ++rank) known.add({job, 2 * rank});
  for (std::uint32_t rank = 0; rank < 500; ++rank) {
    EXPECT_EQ(known.find({job, 2 * rank}), peer_id{rank});
    EXPECT_FALSE(known.find({job, 2 * rank + 1}));
  }
}

TEST(process_table, threads_that_add_the_same_processes_agree_on_their_numbers) {
  constexpr std::uint32_t count = 5000;
  table known;
  std::vector<std::vector<peer_id>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen)
      threads.emplace_back([&known, &mine] {
        for (std::uint32_t rank = 0; rank < count; ++rank) {
          mine.push_back(known.add({job, rank}));
          EXPECT_EQ(known.at(mine.back()).rank, rank);
        }
      });
  }
  EXPECT_EQ(known.size(), count);
  for (const auto& mine : seen) EXPECT_EQ(mine, seen.front());
}

TEST(process_table, refuses_a_number_that_it_did_not_give) {
  table known;
  known.add({job, 0});
  EXPECT_DEATH(static_cast<void>(known.at(peer_id{1})), "index < size");
}

TEST(process_table, a_jobs_number_depends_on_its_whole_name) {
  static_assert(job_id_of("") == 0xcbf29ce484222325);
  static_assert(job_id_of("a") == 0xaf63dc4c8601ec8c);  // FNV-1a's published value
  EXPECT_NE(job_id_of("job-17"), job_id_of("job-71"));
}

}  // namespace
