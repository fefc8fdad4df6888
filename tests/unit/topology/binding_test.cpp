#include "topology/binding.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

using headway::topology::binding;

namespace {

namespace fs = std::filesystem;

/// The kernel's files of an imagined machine: 2 packages with 2 L3 caches of 2 processors each,
/// which are of one core. Both packages are of NUMA node 3.
class files {
 public:
  files() : at_(fs::temp_directory_path() / fmt::format("headway_binding_{}", getpid())) {
    for (int p = 0; p < 8; ++p) {
      put(p, "topology/physical_package_id", fmt::format("{}", p / 4));
      put(p, "cache/index3/id", fmt::format("{}", p / 2));
      put(p, "topology/thread_siblings_list", fmt::format("{}-{}", p / 2 * 2, p / 2 * 2 + 1));
      fs::create_directory(at_ / fmt::format("cpu{}/node3", p));
    }
  }
  ~files() { fs::remove_all(at_); }
  files(const files&) = delete;
  files& operator=(const files&) = delete;

  [[nodiscard]] binding of(std::vector<int> processors) const {
    return binding::of(processors, at_);
  }
  void remove(int processor, const char* name) const {
    fs::remove(at_ / fmt::format("cpu{}", processor) / name);
  }

 private:
  void put(int processor, const char* name, const std::string& value) const {
    const auto path = at_ / fmt::format("cpu{}", processor) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << value << '\n';
  }
  fs::path at_;
};

void expect(const binding& found, int package, int cache) {
  EXPECT_EQ(found.package, package);
  EXPECT_EQ(found.cache, cache);
}

TEST(binding, names_what_holds_all_processors_of_the_mask) {
  const files machine;
  expect(machine.of({5}), 1, 2);
  expect(machine.of({6, 7}), 1, 3);
  expect(machine.of({0, 1, 2}), 0, -1);
  expect(machine.of({0, 7}), -1, -1);
  expect(machine.of({}), -1, -1);
}

TEST(binding, names_the_core_by_its_first_processor_and_the_numa_node) {
  const files machine;
  EXPECT_EQ(machine.of({5}).core, 4);
  EXPECT_EQ(machine.of({6, 7}).core, 6);
  EXPECT_EQ(machine.of({5, 6}).core, -1);
  EXPECT_EQ(machine.of({0, 7}).numa_node, 3);
  machine.remove(7, "node3");
  EXPECT_EQ(machine.of({0, 7}).numa_node, -1);
}

TEST(binding, is_unknown_where_the_kernel_does_not_say) {
  const files machine;
  machine.remove(1, "cache/index3/id");
  expect(machine.of({0, 1}), 0, -1);
  expect(machine.of({8}), -1, -1);
}

}  // namespace
