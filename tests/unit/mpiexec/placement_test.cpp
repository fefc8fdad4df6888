#include "tools/mpiexec/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace headway::mpiexec {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// A folder like the kernel's of two sockets with two cores of two hardware threads each, numbered
/// as servers often are: processor p is on socket p % 2, core (p / 2) % 2 of it.
class machine : public testing::Test {
 protected:
  machine() {
    for (int p = 0; p < 8; ++p) {
      const auto own = folder_ + "/cpu" + std::to_string(p);
      write(own + "/topology/thread_siblings_list", p % 4, "core");
      write(own + "/topology/core_siblings_list", p % 2, "socket");
      write(own + "/cache/index3/shared_cpu_list", p % 2, "cache");
      std::filesystem::create_directories(own + "/node" + std::to_string(p % 2));
    }
    read({0, 1, 2, 3, 4, 5, 6, 7});
  }
  ~machine() override { std::filesystem::remove_all(folder_); }

  void read(const std::vector<int>& allowed) { all_ = machine_places::read(folder_, allowed); }
  /// The processors of ranks 0, 1, …
  std::vector<std::string> bound(const std::string& bind, const std::string& map, int ranks) const {
    return bound_as(wish_of(bind, map), ranks);
  }
  /// The same of a job that has so many ranks.
  std::vector<std::string> bound_by_default(const std::string& bind, const std::string& map,
                                            int ranks) const {
    auto wish = wish_of(bind, map);
    wish.choose_default(ranks, all_);
    return bound_as(wish, ranks);
  }

  machine_places all_;

 private:
  static placement_wish wish_of(const std::string& bind, const std::string& map) {
    placement_wish wish;
    EXPECT_TRUE(bind.empty() || wish.take_bind(bind)) << bind;
    EXPECT_TRUE(map.empty() || wish.take_map(map)) << map;
    return wish;
  }
  std::vector<std::string> bound_as(const placement_wish& wish, int ranks) const {
    std::vector<std::string> texts;
    for (int rank = 0; rank < ranks; ++rank)
      texts.push_back(processor_text(all_.of_rank(rank, wish)));
    return texts;
  }
  static void write(const std::string& path, int number, const char* what) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << what << number << '\n';
  }
  const std::string folder_ =
      (std::filesystem::path(testing::TempDir()) / ("placement" + std::to_string(getpid())))
          .string();
};

TEST_F(machine, cores_follow_each_other_within_a_socket) {
  EXPECT_THAT(bound("core", "", 5), ElementsAre("0,4", "2,6", "1,5", "3,7", "0,4"));
  EXPECT_THAT(bound("core:2", "", 3), ElementsAre("0,2,4,6", "1,3,5,7", "0,2,4,6"));
  EXPECT_THAT(bound("hwthread", "", 4), ElementsAre("0", "2", "4", "6"));
}

TEST_F(machine, sockets_are_taken_in_turns) {
  EXPECT_THAT(bound("socket", "", 3), ElementsAre("0,2,4,6", "1,3,5,7", "0,2,4,6"));
  EXPECT_THAT(bound("numa", "", 2), ElementsAre("0,2,4,6", "1,3,5,7"));
}

TEST_F(machine, ranks_are_dealt_out_over_one_level_and_bound_to_another) {
  EXPECT_THAT(bound("core", "socket", 4), ElementsAre("0,4", "1,5", "2,6", "3,7"));
  EXPECT_THAT(bound("socket", "core", 4), ElementsAre("0,2,4,6", "0,2,4,6", "1,3,5,7", "1,3,5,7"));
  EXPECT_THAT(bound("core", "ppr:2:socket", 4), ElementsAre("0,4", "2,6", "1,5", "3,7"));
  EXPECT_THAT(bound("", "ppr:2:socket", 4),
              ElementsAre("0,2,4,6", "0,2,4,6", "1,3,5,7", "1,3,5,7"));
  EXPECT_THAT(bound("", "socket:pe=2", 2), ElementsAre("0,2,4,6", "1,3,5,7"));
}

TEST_F(machine, nothing_is_bound_unless_a_level_says_so) {
  EXPECT_THAT(bound("none", "", 1), ElementsAre(""));
  EXPECT_THAT(bound("none", "socket", 1), ElementsAre(""));
  EXPECT_THAT(bound("", "node", 1), ElementsAre(""));
  EXPECT_THAT(bound("", "slot", 1), ElementsAre(""));
  EXPECT_THAT(bound("", "", 1), ElementsAre(""));
}

TEST_F(machine, ranks_that_fill_cores_or_hardware_threads_evenly_are_bound_by_default) {
  EXPECT_THAT(bound_by_default("", "", 4), ElementsAre("0,4", "2,6", "1,5", "3,7"));
  EXPECT_THAT(bound_by_default("", "", 8), ElementsAre("0", "2", "4", "6", "1", "3", "5", "7"));
  const auto several = bound_by_default("", "", 12);
  EXPECT_THAT(std::vector(several.begin() + 4, several.begin() + 8),
              ElementsAre("0,4", "2,6", "1,5", "3,7"));
  for (const int ranks : {1, 2, 3, 5, 7, 9, 14})
    EXPECT_THAT(bound_by_default("", "", ranks), Each("")) << ranks;
  EXPECT_THAT(bound_by_default("none", "", 4), Each(""));
  EXPECT_THAT(bound_by_default("", "slot", 4), Each(""));
  EXPECT_THAT(bound_by_default("socket", "", 4),
              ElementsAre("0,2,4,6", "1,3,5,7", "0,2,4,6", "1,3,5,7"));
  read({1, 2, 3});
  EXPECT_THAT(bound_by_default("", "", 3), ElementsAre("1", "3", "2"));
}

TEST_F(machine, one_rank_on_one_processor_is_not_bound) {
  read({5});
  EXPECT_THAT(bound_by_default("", "", 1), ElementsAre(""));
}

TEST_F(machine, only_allowed_processors_are_used) {
  read({1, 2, 3});
  EXPECT_THAT(bound("core", "", 4), ElementsAre("1", "3", "2", "1"));
  EXPECT_THAT(bound("socket", "", 2), ElementsAre("1,3", "2"));
}

TEST_F(machine, a_number_of_ranks_for_each_place_gives_the_number_of_all) {
  placement_wish wish;
  ASSERT_TRUE(wish.take_map("ppr:3:socket"));
  EXPECT_EQ(all_.ranks_wanted(wish), 6);
}

TEST(placement, modifiers_alone_say_nothing_about_places) {
  for (const char* text : {":OVERSUBSCRIBE", ":nooversubscribe"}) {
    placement_wish wish;
    ASSERT_TRUE(wish.take_map(text)) << text;
    EXPECT_TRUE(wish.is_unspecified() && wish.map_text.empty()) << text;
  }
  placement_wish wish;
  ASSERT_TRUE(wish.take_map("slot:OVERSUBSCRIBE"));
  EXPECT_FALSE(wish.binds());
}

TEST(placement, words_that_are_not_understood_are_named_with_those_that_are) {
  for (const char* text : {"", "cores", "core:0", "core:x", "user:0,1"}) {
    placement_wish wish;
    const auto done = wish.take_bind(text);
    ASSERT_FALSE(done) << text;
    EXPECT_THAT(done.error().text, HasSubstr("hwthread, core"));
  }
  for (const char* text : {"cores", "ppr:2", "ppr:2:", "ppr:x:socket", "core:pe=0", "core:many"}) {
    placement_wish wish;
    const auto done = wish.take_map(text);
    ASSERT_FALSE(done) << text;
    EXPECT_THAT(done.error().text, HasSubstr(text));
  }
}

TEST(placement, processors_are_written_as_ranges) {
  EXPECT_EQ(processor_text({}), "");
  EXPECT_EQ(processor_text({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace
}  // namespace headway::mpiexec
