#include "wireup/process_record.hpp"

#include <gtest/gtest.h>

#include "wireup/foreign_processes.hpp"
#include "wireup/places.hpp"

namespace headway::wireup {
namespace {

process_record a_record() {
  const nic_address one{.connections = {rail_address(38, std::byte{7})}};
  const nic_address two{.connections = {rail_address(1, std::byte{1}), rail_address()}};
  return {.place = {.kernel = 0x0123456789abcdef,
                    .memory = 42,
                    .processors = 96,
                    .package = 1,
                    .tuned = 5},
          .host = "node7",
          .addresses = {{"shm", {one}}, {"tcp", {one, two}}}};
}

TEST(process_record, comes_back_as_it_was_packed) {
  for (const auto& record : {a_record(), process_record{}}) {
    const auto back = process_record::unpack(record.pack());
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, record);
    EXPECT_EQ(process_record::place_in(record.pack()), record.place);
  }
}

TEST(process_record, refuses_every_cut_and_every_addition) {
  auto packed = a_record().pack();
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(process_record::unpack(std::span(packed).first(size))) << size;
  EXPECT_FALSE(process_record::place_in(std::span(packed).first(31)));
  packed.push_back(std::byte{});
  EXPECT_FALSE(process_record::unpack(packed));
}

TEST(process_record, two_processes_of_one_kernel_and_shared_memory_have_one_place) {
  const auto here = process_place::own(4);
  EXPECT_EQ(here, process_place::own(4));
  EXPECT_NE(here.kernel, here.memory);
  EXPECT_EQ(here.processors, 4u);
}

TEST(places, equal_values_get_equal_numbers_in_the_order_in_which_they_come) {
  numbering numbers;
  std::vector<int> given;
  for (const std::uint64_t value : {7, 5, 7, 9, 5}) given.push_back(numbers.of(value));
  EXPECT_EQ(given, (std::vector{0, 1, 0, 2, 1}));
}

TEST(places, processes_outnumber_processors_where_one_computer_has_too_few) {
  const process_position on_small{.computer = 1, .processors = 2};
  const process_position on_large{.computer = 2, .processors = 8};
  EXPECT_FALSE(outnumber_processors(std::vector{on_small, on_large, on_large, on_small, on_large}));
  EXPECT_TRUE(outnumber_processors(std::vector{on_small, on_large, on_small, on_small}));
}

TEST(foreign_processes, have_the_node_numbers_of_the_own_job_where_they_share_its_memory) {
  struct alone final : launch::launcher {
    launch::identity self{.rank = 0, .size = 1, .job_id = "here", .launcher = "none"};
    std::vector<std::byte> value;
    [[nodiscard]] const launch::identity& who() const noexcept override { return self; }
    [[nodiscard]] std::optional<launch::job_secret> secret() const override { return {{}}; }
    base::result<> publish(std::span<const std::byte> v) override {
      value.assign(v.begin(), v.end());
      return {};
    }
    base::result<> barrier() override { return {}; }
    base::result<std::vector<std::byte>> value_of(int) override { return value; }
    void abort(int, std::string_view) noexcept override {}
    base::result<> finish() override { return {}; }
  };
  const auto job = launch::job::join(std::make_unique<alone>()).value();
  const process_record here{.place = {.kernel = 1, .memory = 2, .processors = 4}};
  ASSERT_TRUE(job->publish(here.pack()));
  const auto own = places::read(*job).value();
  foreign_processes others(own);
  const auto beside = here.pack();
  const auto elsewhere = process_record{.place = {.kernel = 5, .memory = 6}}.pack();
  ASSERT_TRUE(others.add(processes::peer_id{1}, elsewhere));
  ASSERT_TRUE(others.add(processes::peer_id{2}, beside));
  ASSERT_TRUE(others.add(processes::peer_id{2}, elsewhere)) << "known: no effect";
  EXPECT_FALSE(others.add(processes::peer_id{3}, std::span(beside).first(9))) << "damaged";
  EXPECT_EQ(others.position_of(processes::peer_id{2})->node, own.of(0).node);
  EXPECT_EQ(others.position_of(processes::peer_id{2})->computer, own.of(0).computer);
  EXPECT_NE(others.position_of(processes::peer_id{1})->node, own.of(0).node);
  EXPECT_EQ(others.record_of(processes::peer_id{2}), beside);
  EXPECT_FALSE(others.record_of(processes::peer_id{3}));
  EXPECT_FALSE(others.position_of(processes::peer_id{3}));
}

TEST(places, a_table_counts_only_where_all_processes_of_the_node_have_read_the_same) {
  using tables = places::tables;
  const std::array nodes{0, 0, 1, 1};
  using numbers = std::array<std::uint64_t, 4>;
  const auto on_node = [&](const numbers& tuned, std::size_t own) {
    return compare_tables(tuned, nodes, own);
  };
  EXPECT_EQ(on_node({7, 7, 9, 9}, 0), tables::same);
  EXPECT_EQ(on_node({7, 7, 9, 9}, 3), tables::same) << "each node has its own";
  EXPECT_EQ(on_node({7, 8, 9, 9}, 0), tables::different);
  EXPECT_EQ(on_node({7, 8, 9, 9}, 1), tables::different);
  EXPECT_EQ(on_node({0, 8, 9, 9}, 0), tables::different) << "also where one has none";
  EXPECT_EQ(on_node({0, 8, 9, 9}, 1), tables::different);
  EXPECT_EQ(on_node({0, 0, 9, 9}, 1), tables::none);
}

}  // namespace
}  // namespace headway::wireup
