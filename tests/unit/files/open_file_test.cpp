#include "files/open_file.hpp"

#include <atomic>
#include <cerrno>
#include <thread>

#include "temporary_file.hpp"

namespace headway::files {
namespace {

TEST(open_file, says_why_it_cannot_be_opened) {
  EXPECT_EQ(open_file::open("/tmp/headway-there-is-none", O_RDONLY).error(), ENOENT);
  EXPECT_EQ(open_file::open("/tmp", O_RDONLY).error(), EISDIR);
}

TEST(open_file, reads_what_there_is_before_the_end) {
  const temporary_file at;
  const auto all = pattern(100);
  at.fill(all);
  const auto file = at.open();
  std::vector<std::byte> got(50);
  EXPECT_EQ(file.read(got.data(), 50, 80).bytes, 20);
  EXPECT_EQ(file.read(got.data(), 50, 100).bytes, 0);
  EXPECT_EQ(file.read(got.data(), 50, 100).error, 0);
}

TEST(open_file, reports_an_error_of_a_write) {
  const temporary_file at;
  const auto file = at.open(O_RDONLY);
  const auto all = pattern(10);
  EXPECT_EQ(file.write(all.data(), 10, 0).error, EBADF);
}

TEST(open_file, changes_its_size_and_keeps_what_lies_before) {
  const temporary_file at;
  at.fill(pattern(100));
  const auto file = at.open();
  EXPECT_EQ(file.allocate(50), 0);
  EXPECT_EQ(file.size(), 100);
  EXPECT_EQ(file.allocate(200), 0);
  EXPECT_EQ(file.size(), 200);
  EXPECT_EQ(file.set_size(10), 0);
  EXPECT_EQ(at.bytes(), pattern(10));
}

TEST(open_file, a_lock_waits_for_other_open_files_that_lock_the_same_bytes) {
  const temporary_file at;
  const auto one = at.open(), other = at.open();
  ASSERT_EQ(one.lock(open_file::lock_kind::exclusive, 0, 10), 0);
  EXPECT_EQ(other.lock(open_file::lock_kind::exclusive, 10, 20), 0);
  std::atomic<bool> released{false};
  std::thread waits([&] {
    EXPECT_EQ(other.lock(open_file::lock_kind::exclusive, 5, 10), 0);
    EXPECT_TRUE(released.load());
  });
  released.store(true);
  EXPECT_EQ(one.unlock(0, 10), 0);
  waits.join();
}

}  // namespace
}  // namespace headway::files
