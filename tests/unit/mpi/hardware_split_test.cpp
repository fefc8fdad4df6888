#include "mpi/communicators/hardware_split.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>

using namespace headway::mpi;

namespace {

constexpr int none = MPI_UNDEFINED;
using colors = std::vector<int>;

/// Processes of one split type, with node, package and cache of each.
std::vector<hardware_entry> processes(int type, std::vector<std::array<int, 3>> places) {
  std::vector<hardware_entry> all;
  for (const auto& [node, package, cache] : places)
    all.push_back({.split_type = type,
                   .key = 0,
                   .node = node,
                   .bound = {.package = package, .cache = cache}});
  return all;
}

colors guided(std::vector<std::array<int, 3>> places, std::string_view resource) {
  return hardware_colors(processes(MPI_COMM_TYPE_HW_GUIDED, std::move(places)), resource);
}

colors unguided(std::vector<std::array<int, 3>> places) {
  return hardware_colors(processes(MPI_COMM_TYPE_HW_UNGUIDED, std::move(places)), {});
}

TEST(hardware_split, shared_is_by_node_whatever_the_binding) {
  const auto all = processes(MPI_COMM_TYPE_SHARED, {{4, -1, -1}, {7, 0, 0}, {4, 1, 1}});
  EXPECT_EQ(hardware_colors(all, {}), (colors{0, 1, 0}));
}

TEST(hardware_split, guided_is_by_the_named_resource_of_the_same_node) {
  const std::vector<std::array<int, 3>> places = {{0, 0, 0}, {0, 0, 1}, {0, 1, 2}, {1, 0, 0}};
  EXPECT_EQ(guided(places, shared_memory_resource), (colors{0, 0, 0, 1}));
  EXPECT_EQ(guided(places, package_resource), (colors{0, 0, 1, 2}));
  EXPECT_EQ(guided(places, cache_resource), (colors{0, 1, 2, 3}));
}

TEST(hardware_split, a_process_that_is_not_bound_within_one_instance_is_in_no_part) {
  EXPECT_EQ(guided({{0, 0, -1}, {0, -1, -1}, {0, 0, 3}}, package_resource), (colors{0, none, 0}));
  EXPECT_EQ(guided({{0, 0, -1}, {0, -1, -1}, {0, 0, 3}}, cache_resource), (colors{none, none, 0}));
}

TEST(hardware_split, an_unknown_resource_splits_nothing) {
  EXPECT_EQ(guided({{0, 0, 0}, {1, 0, 0}}, "hwloc://Nothing"), (colors{none, none}));
  EXPECT_EQ(guided({{0, 0, 0}, {1, 0, 0}}, {}), (colors{none, none}));
}

TEST(hardware_split, unguided_is_by_the_widest_resource_that_divides) {
  EXPECT_EQ(unguided({{0, 0, 0}, {1, 0, 0}, {0, 1, 1}}), (colors{0, 1, 0}));
  EXPECT_EQ(unguided({{0, 0, 0}, {0, 0, 1}, {0, 1, 2}}), (colors{0, 0, 1}));
  EXPECT_EQ(unguided({{0, 0, 0}, {0, 0, 1}, {0, 0, 1}}), (colors{0, 1, 1}));
  EXPECT_EQ(unguided({{0, 0, 5}, {0, 0, 5}}), (colors{none, none}));
  EXPECT_EQ(dividing_resource(processes(MPI_COMM_TYPE_HW_UNGUIDED, {{0, 0, 0}, {0, 1, 1}})),
            package_resource);
  EXPECT_EQ(dividing_resource(processes(MPI_COMM_TYPE_HW_UNGUIDED, {{0, 0, 5}, {0, 0, 5}})), "");
  EXPECT_EQ(unguided({{0, -1, -1}, {0, -1, -1}}), (colors{none, none}));
  EXPECT_EQ(unguided({{0, 0, -1}, {0, -1, -1}}), (colors{0, none}));
}

TEST(hardware_split, guided_is_also_by_numa_node_and_core) {
  auto all = processes(MPI_COMM_TYPE_HW_GUIDED, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0}});
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].bound.numa_node = i == 0 ? 0 : 1;
    all[i].bound.core = i == 3 ? -1 : static_cast<int>(2 * i);
  }
  EXPECT_EQ(hardware_colors(all, numa_resource), (colors{0, 1, 1, 2}));
  EXPECT_EQ(hardware_colors(all, core_resource), (colors{0, 1, 2, none}));
}

TEST(hardware_split, unguided_goes_down_to_the_core) {
  auto all = processes(MPI_COMM_TYPE_HW_UNGUIDED, {{0, 0, 0}, {0, 0, 0}, {0, 0, 1}});
  all[0].bound.core = 0, all[1].bound.core = 2, all[2].bound.core = 4;
  EXPECT_EQ(hardware_colors(all, {}), (colors{0, 0, 1}));
  all.pop_back();
  EXPECT_EQ(hardware_colors(all, {}), (colors{0, 1}));
  all[0].bound.numa_node = 0, all[1].bound.numa_node = 1, all[1].bound.core = 0;
  EXPECT_EQ(hardware_colors(all, {}), (colors{0, 1}));
}

TEST(hardware_split, a_process_set_may_span_nodes) {
  auto all = processes(MPI_COMM_TYPE_RESOURCE_GUIDED, {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {2, 0, 0}});
  all[0].set_first = all[1].set_first = 0, all[2].set_first = 2;
  EXPECT_EQ(hardware_colors(all, process_set_resource), (colors{0, 0, 1, none}));
}

TEST(hardware_split, those_that_ask_for_none_neither_get_nor_make_a_part) {
  auto all = processes(MPI_COMM_TYPE_HW_UNGUIDED, {{0, 0, 0}, {1, 0, 0}, {0, 1, 1}});
  all[1].split_type = MPI_UNDEFINED;
  EXPECT_EQ(hardware_colors(all, {}), (colors{0, none, 1}));
}

}  // namespace
