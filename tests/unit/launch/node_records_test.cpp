#include "launch/node_records.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace headway::launch::node_records_tests {
namespace {

const job_secret a_secret{std::byte{1}};

/// The name of a job that no other test uses.
identity a_job(int size) {
  static int count = 0;
  return {.size = size, .job_id = fmt::format("node-records-test-{}-{}", getpid(), ++count)};
}

std::vector<std::byte> bytes(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

std::vector<std::string> files_of(const identity& who) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with("headway-" + who.job_id + "-"))
      found.push_back(entry.path());
  return found;
}

/// The file with the records of this job, which is removed before this returns.
std::string path_of(const identity& who) {
  const node_records made(who, a_secret);
  return files_of(who).at(0);
}

TEST(node_records, what_one_process_puts_the_others_find) {
  const auto who = a_job(3);
  node_records one(who, a_secret), other(who, a_secret);
  EXPECT_FALSE(other.find(2));
  one.put(2, bytes(100, 7));
  one.put(0, {});
  EXPECT_EQ(other.find(2), bytes(100, 7));
  EXPECT_EQ(other.find(0), bytes(0, 0));
  EXPECT_FALSE(other.find(1));
}

TEST(node_records, one_process_of_many_claims_a_record_and_the_others_wait_for_it) {
  const auto who = a_job(1);
  node_records one(who, a_secret), other(who, a_secret);
  ASSERT_TRUE(one.claim(0));
  EXPECT_FALSE(other.claim(0));
  std::thread waiting([&] { EXPECT_EQ(other.find(0), bytes(5, 9)); });
  one.put(0, bytes(5, 9));
  waiting.join();
}

TEST(node_records, a_record_that_was_abandoned_can_be_claimed_again) {
  const auto who = a_job(1);
  node_records one(who, a_secret), other(who, a_secret);
  ASSERT_TRUE(one.claim(0));
  one.abandon(0);
  EXPECT_FALSE(other.find(0));
  EXPECT_TRUE(other.claim(0));
}

TEST(node_records, a_claim_that_is_never_ended_is_not_waited_for_for_ever) {
  const auto who = a_job(1);
  node_records one(who, a_secret), other(who, a_secret, 1'000'000);
  ASSERT_TRUE(one.claim(0));
  EXPECT_FALSE(other.find(0));
}

TEST(node_records, what_does_not_fit_is_not_shared_and_breaks_nothing) {
  const auto who = a_job(4);
  node_records one(who, a_secret), other(who, a_secret);
  one.put(0, bytes(900'000, 1));
  one.put(1, bytes(900'000, 2));  // the arena has 1 MB
  EXPECT_EQ(other.find(0), bytes(900'000, 1));
  EXPECT_FALSE(other.find(1));
}

TEST(node_records, another_secret_or_job_finds_nothing) {
  const auto who = a_job(1), another_job = a_job(1);
  node_records one(who, a_secret), other(who, job_secret{std::byte{2}}),
      third(another_job, a_secret);
  one.put(0, bytes(5, 9));
  EXPECT_FALSE(other.find(0));
  EXPECT_FALSE(third.find(0));
}

TEST(node_records, leaves_no_file) {
  const auto who = a_job(2);
  {
    node_records one(who, a_secret), other(who, a_secret);
    EXPECT_EQ(files_of(who).size(), 1u);
    one.put(1, bytes(5, 9));
    one.unlink_name();
    EXPECT_TRUE(files_of(who).empty());
    EXPECT_EQ(other.find(1), bytes(5, 9));
  }
  EXPECT_TRUE(files_of(who).empty());
}

TEST(node_records, is_locked_so_that_other_jobs_do_not_remove_its_file) {
  const auto who = a_job(2);
  const node_records one(who, a_secret);
  const int sweeper = open(files_of(who).at(0).c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(sweeper, 0);
  EXPECT_NE(flock(sweeper, LOCK_EX | LOCK_NB), 0);
  close(sweeper);
}

TEST(node_records, creates_its_file_again_if_another_job_removes_it_before_it_is_locked) {
  const auto who = a_job(2);
  const auto path = path_of(who);
  const int sweeper = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(flock(sweeper, LOCK_EX | LOCK_NB), 0);
  std::thread sweeping([&] {
    usleep(20'000);
    unlink(path.c_str());
    close(sweeper);
  });
  node_records one(who, a_secret);
  sweeping.join();
  const node_records other(who, a_secret);
  one.put(1, bytes(5, 9));
  EXPECT_EQ(other.find(1), bytes(5, 9));
}

TEST(node_records, a_file_that_others_may_write_is_not_used) {
  const auto who = a_job(1);
  const auto path = path_of(who);
  const int planted = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(planted, 0);
  ASSERT_EQ(fchmod(planted, 0666), 0);
  {
    node_records one(who, a_secret), other(who, a_secret);
    one.put(0, bytes(5, 9));
    EXPECT_FALSE(other.find(0));
    EXPECT_FALSE(other.claim(0));
  }
  close(planted);
  unlink(path.c_str());
}

}  // namespace
}  // namespace headway::launch::node_records_tests
