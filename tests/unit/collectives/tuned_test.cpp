// The table of `headway tune`: its text, its file, and what it makes `choose` answer.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "base/text_lines.hpp"
#include "collectives/choice.hpp"
#include "collectives/tuned_store.hpp"

namespace headway::collectives {
namespace {

using ::testing::HasSubstr;
using enum algorithm;

tuned_row row(collective what, std::int64_t bytes_max, std::initializer_list<algorithm> order) {
  tuned_row made{.what = what, .bytes_max = bytes_max};
  std::ranges::copy(order, made.order.begin());
  return made;
}

tuned_shape example_shape(int ranks = 4) {
  return {.ranks = ranks,
          .processors = 2,
          .measured_at = 1'764'000'000,
          .rows = {row(collective::barrier, 0, {slots, dissemination}),
                   row(collective::allreduce, 100, {slots, chain, doubling}),
                   row(collective::allreduce, 4096, {ring, flat})}};
}

tuned_table example() {
  return {.version = "0.1.0, table 5",
          .machine = "0123456789abcdef A Processor",
          .shapes = {example_shape(2), example_shape(4)}};
}

constexpr unsigned all_but_edges = any_order | two_buffers | node_banks | shared_slots;

question of_bytes(std::int64_t bytes, unsigned has = all_but_edges) {
  return {.what = collective::allreduce, .bytes = bytes, .ranks = 4, .has = has};
}

TEST(tuned_choice, takes_the_quickest_measured_algorithm_for_the_size) {
  const auto shape = example_shape();
  EXPECT_EQ(choose(of_bytes(8), {}, &shape), slots);
  EXPECT_EQ(choose(of_bytes(100), {}, &shape), slots);
  EXPECT_EQ(choose(of_bytes(101), {}, &shape), ring);
  EXPECT_EQ(choose(of_bytes(4096), {}, &shape), ring);
}

TEST(tuned_choice, passes_over_what_the_call_cannot_use) {
  const auto shape = example_shape();
  EXPECT_EQ(choose(of_bytes(8, any_order), {}, &shape), chain) << "no slots";
  EXPECT_EQ(choose(of_bytes(4096, node_banks), {}, &shape), flat)
      << "the operator does not commute";
}

TEST(tuned_choice, is_the_built_in_one_for_what_was_not_measured) {
  const auto shape = example_shape();
  for (const auto bytes : {std::int64_t{4097}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(choose(of_bytes(bytes), {}, &shape), choose(of_bytes(bytes)));
  const question bcast{.what = collective::bcast, .bytes = 8, .ranks = 4};
  EXPECT_EQ(choose(bcast, {}, &shape), choose(bcast));
  auto needy = example_shape();
  needy.rows = {row(collective::allreduce, 4096, {slots})};
  EXPECT_EQ(choose(of_bytes(8, any_order), {}, &needy), choose(of_bytes(8, any_order)));
}

TEST(tuned_choice, yields_to_what_the_user_names) {
  const auto shape = example_shape();
  EXPECT_EQ(choose(of_bytes(8), settings::from_text("allreduce:flat"), &shape), flat);
  EXPECT_EQ(choose(of_bytes(8), settings::from_text("allreduce:automatic"), &shape), slots);
}

TEST(tuned_table, comes_back_as_it_was_written) {
  for (const auto& written :
       {example(), tuned_table{.version = "1", .machine = "2", .shapes = {}}}) {
    const auto read = tuned_table_of(text_of(written));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, written);
  }
}

TEST(tuned_table, every_truncation_and_every_changed_byte_is_noticed) {
  const auto text = text_of(example());
  for (std::size_t cut = 0; cut < text.size(); ++cut)
    EXPECT_FALSE(tuned_table_of(text.substr(0, cut))) << cut;
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto other = text;
    other[at] ^= 1;
    EXPECT_FALSE(tuned_table_of(other)) << at;
  }
  EXPECT_FALSE(tuned_table_of(text + text));
}

TEST(tuned_table, refuses_a_last_line_without_an_end_although_its_sum_is_right) {
  const auto text = text_of(example());
  const auto lines = text.substr(0, text.rfind("sum "));
  for (std::size_t cut = 1; cut < lines.size(); ++cut) {
    if (lines[cut - 1] == '\n') continue;
    EXPECT_FALSE(tuned_table_of(base::with_sum(lines.substr(0, cut)))) << cut;
  }
}

/// Why a table with this line in place of another one is refused; empty: it is not.
std::string refusal(std::string_view line, std::string_view in_place_of) {
  auto text = text_of(example());
  text.resize(text.rfind("sum "));
  const auto at = text.find(in_place_of);
  EXPECT_NE(at, text.npos);
  text.replace(at, in_place_of.size(), line);
  const auto read = tuned_table_of(base::with_sum(text));
  return read ? "" : read.error().text;
}

TEST(tuned_table, refuses_lines_that_say_nothing_and_names_them) {
  constexpr auto known = "row allreduce 100 slots chain doubling";
  EXPECT_EQ(refusal(known, known), "");
  EXPECT_THAT(refusal("headway collectives 2", "headway collectives 1"), HasSubstr("this version"));
  EXPECT_THAT(refusal("machine ", "machine 0123456789abcdef A Processor"), HasSubstr("line 3"));
  for (const char* line :
       {"row allreduce 100", "row allreduce slots", "row allreduce -1 slots",
        "row allreduce 100 slots slots", "row allreduce 100 automatic", "row barrier 100 ring",
        "row allreduce 100 bruck", "row alreduce 100 slots", "row allreduce 100 slots  chain",
        "row allreduce 4096 slots", "row allreduce 99999999999999999999 slots"})
    EXPECT_THAT(refusal(line, known), HasSubstr("no row")) << line;
  for (const char* line :
       {"shape 1 ranks 2 processors at 5", "shape 2 ranks 0 processors at 5",
        "shape 2 ranks 2 processors at", "shape 4097 ranks 2 processors at 5", "shape", "rows",
        "shape 4 ranks 2 processors at 5"})  // of which there is one
    EXPECT_THAT(refusal(line, "shape 2 ranks 2 processors at 1764000000"), HasSubstr("line"))
        << line;
}

TEST(tuned_table, has_one_shape_for_each_number_of_ranks_and_of_processors) {
  auto table = example();
  auto other = example_shape(4);
  other.rows.clear();
  table.put(other);
  EXPECT_EQ(table.shapes.size(), 2u);
  EXPECT_EQ(*table.shape_of(4, 2), other);
  EXPECT_EQ(table.shape_of(4, 3), nullptr);
  EXPECT_EQ(table.shape_of(3, 2), nullptr);
}

TEST(tuned_table, forgets_the_oldest_shape_beyond_their_number) {
  tuned_table table{.version = "1", .machine = "2", .shapes = {}};
  for (std::size_t i = 0; i <= tuned_table::shapes_max; ++i) {
    auto made = example_shape(static_cast<int>(i) + 2);
    made.measured_at = 1000 + i;
    table.put(made);
  }
  EXPECT_EQ(table.shapes.size(), tuned_table::shapes_max);
  EXPECT_EQ(table.shape_of(2, 2), nullptr);
  EXPECT_TRUE(tuned_table_of(text_of(table)));
}

/// A folder of its own for each test.
class tuned_store_test : public ::testing::Test {
 protected:
  void SetUp() override {
    auto name = (std::filesystem::temp_directory_path() / "headway-tuned-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] tuned_store store(std::string version = "0.1.0", std::string machine = "m") const {
    return {folder, "node/1", std::move(version), std::move(machine)};
  }
  /// Why the file is refused; empty: it is not.
  [[nodiscard]] static std::string refusal(const tuned_store& s) {
    const auto found = s.find();
    return found ? "" : found.error().text;
  }
  void overwrite(std::string_view text) const {
    std::ofstream(store().file(), std::ios::trunc) << text;
  }

  std::filesystem::path folder;
};

TEST_F(tuned_store_test, finds_nothing_where_there_is_no_file_and_no_folder) {
  ASSERT_TRUE(store().find());
  EXPECT_FALSE(*store().find());
  const tuned_store none("", "node", "0.1.0", "m");
  ASSERT_TRUE(none.find());
  EXPECT_FALSE(*none.find());
  EXPECT_FALSE(none.save(example_shape()));
}

TEST_F(tuned_store_test, finds_what_was_saved_and_adds_shapes_to_it) {
  ASSERT_TRUE(store().save(example_shape(2)));
  ASSERT_TRUE(store().save(example_shape(4)));
  const auto found = store().find();
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->shapes, example().shapes);
}

TEST_F(tuned_store_test, refuses_a_table_of_another_version_or_machine) {
  ASSERT_TRUE(store().save(example_shape()));
  EXPECT_EQ(refusal(store()), "");
  EXPECT_EQ(refusal(store("0.2.0")), "it is of version 0.1.0, this is 0.2.0");
  EXPECT_EQ(refusal(store("0.1.0", "other")), "it is of machine m, this is other");
}

TEST_F(tuned_store_test, refuses_a_table_that_is_damaged_truncated_or_far_too_long) {
  ASSERT_TRUE(store().save(example_shape()));
  const auto sound = text_of({"0.1.0", "m", {example_shape()}});
  overwrite(sound);
  EXPECT_EQ(refusal(store()), "");
  overwrite(sound.substr(0, sound.size() / 2));
  EXPECT_EQ(refusal(store()), "no sum at the end");
  auto damaged = sound;
  damaged[sound.find("row")] = 'R';
  overwrite(damaged);
  EXPECT_EQ(refusal(store()), "the sum over it is wrong");
  overwrite("");
  EXPECT_EQ(refusal(store()), "no sum at the end");
  overwrite(std::string(1 << 20, 'x'));
  EXPECT_EQ(refusal(store()), "far too long");
}

TEST_F(tuned_store_test, refuses_what_other_users_can_write) {
  ASSERT_TRUE(store().save(example_shape()));
  const auto file = store().file();
  for (const mode_t mode : {mode_t{0620}, mode_t{0602}}) {
    ASSERT_EQ(chmod(file.c_str(), mode), 0);
    EXPECT_EQ(refusal(store()), "it can be written by others");
  }
  ASSERT_EQ(chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(refusal(store()), "");
  ASSERT_EQ(chmod(file.parent_path().c_str(), 0777), 0);
  EXPECT_EQ(refusal(store()), "its folder can be written by others");
}

TEST_F(tuned_store_test, refuses_a_link_and_what_is_no_file) {
  ASSERT_TRUE(store().save(example_shape()));
  const auto file = store().file();
  std::filesystem::rename(file, folder / "elsewhere");
  std::filesystem::create_symlink(folder / "elsewhere", file);
  EXPECT_THAT(refusal(store()), HasSubstr("open"));
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(refusal(store()), "it is not a file");
}

TEST_F(tuned_store_test, replaces_a_table_that_is_refused) {
  ASSERT_TRUE(store().save(example_shape(2)));
  overwrite("nonsense");
  ASSERT_TRUE(store().save(example_shape(4)));
  const auto found = store().find();
  ASSERT_TRUE(found && *found);
  ASSERT_EQ((*found)->shapes.size(), 1u);
  EXPECT_EQ((*found)->shapes[0].ranks, 4);
}

TEST_F(tuned_store_test, writes_for_this_user_alone_whatever_the_mask_is) {
  const auto before = umask(0);
  ASSERT_TRUE(store().save(example_shape()));
  umask(before);
  const auto file = std::filesystem::status(store().file()).permissions();
  EXPECT_EQ(static_cast<unsigned>(file), 0600u);
  EXPECT_EQ(refusal(store()), "");
}

}  // namespace
}  // namespace headway::collectives
