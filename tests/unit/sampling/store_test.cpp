#include "sampling/store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "base/hash.hpp"
#include "sampling/connections.hpp"
#include "tests/unit/sampling/curves.hpp"

namespace headway::sampling {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t now_s = 1'700'000'000;
constexpr std::uint64_t day_s = 86'400;

record example() {
  return {.key = {.here = "node1", .there = "node2", .rail = "tcp:eth0"},
          .hardware = "1000 Mbit/s, mtu 1500",
          .measured_at = now_s,
          .found = profile::guessed(12'345, 0.117)};
}

void expect_same(const profile& a, const profile& b) {
  EXPECT_EQ(a.connections, b.connections);
  for (std::size_t i = 0; i < curve::sample_count; ++i) {
    EXPECT_DOUBLE_EQ(a.piece.sample_ns(i), b.piece.sample_ns(i));
    EXPECT_DOUBLE_EQ(a.eager.sample_ns(i), b.eager.sample_ns(i));
    EXPECT_DOUBLE_EQ(a.cost.sample_ns(i), b.cost.sample_ns(i));
  }
}

TEST(record, comes_back_as_it_was_written) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    auto written = example();
    written.found = {.piece = any_curve(random),
                     .eager = any_curve(random),
                     .cost = any_curve(random),
                     .connections = 1 + round % connections_max};
    const auto read = record_of(text_of(written));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(read->key, written.key);
    EXPECT_EQ(read->hardware, written.hardware);
    EXPECT_EQ(read->measured_at, written.measured_at);
    expect_same(read->found, written.found);
  }
}

TEST(record, of_a_rail_at_the_bound_of_times_is_one_that_can_be_read) {
  auto written = example();
  written.found.piece = curve::straight(curve::ns_max, 1e9);
  const auto read = record_of(text_of(written));
  ASSERT_TRUE(read) << read.error().text;
  expect_same(read->found, written.found);
}

TEST(record, every_truncation_and_every_changed_byte_is_noticed) {
  const auto text = text_of(example());
  for (std::size_t cut = 0; cut < text.size(); ++cut) EXPECT_FALSE(record_of(text.substr(0, cut)));
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto other = text;
    other[at] ^= 1;
    EXPECT_FALSE(record_of(other)) << at;
  }
  EXPECT_FALSE(record_of(text + "\n"));
  EXPECT_FALSE(record_of(text + text));
}

/// A profile with this line in the place of its number of connections, and a right sum.
std::string with_connections(const std::string& line) {
  auto text = text_of(example());
  const auto at = text.find("connections 1\n");
  text = text.substr(0, text.find("sum ")).replace(at, sizeof "connections 1", line);
  const auto sum = base::hash_of(text);
  return text + fmt::format("sum {:016x}\n", sum);
}

TEST(record, a_number_of_connections_that_makes_no_sense_is_refused) {
  EXPECT_EQ(record_of(with_connections("connections 8\n"))->found.connections, 8);
  for (const char* line :
       {"connections 0\n", "connections 9\n", "connections -1\n", "connections 99999999999\n",
        "connections \n", "connections\n", "connections 2.5\n", "connections two\n",
        "connections 2 2\n", "connection 2\n", "", "connections 2\nconnections 2\n"})
    EXPECT_FALSE(record_of(with_connections(line))) << line;
}

TEST(record, of_an_earlier_version_is_refused) {
  auto text = text_of(example());
  text.replace(text.find(" 2\n"), 3, " 1\n");
  const auto read = record_of(text);
  ASSERT_FALSE(read);
}

TEST(record, names_with_line_breaks_stay_on_their_line) {
  auto odd = example();
  odd.key.rail = "tcp:eth0\nsum 0";
  const auto read = record_of(text_of(odd));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->key.rail, "tcp:eth0 sum 0");
}

class profile_store : public ::testing::Test {
 protected:
  profile_store() {
    char name[] = "/tmp/headway-store-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~profile_store() override { std::filesystem::remove_all(folder_); }
  store in_folder() const { return store({.folder = folder_ / "profiles"}); }

  /// The text on standard error while `body` runs.
  static std::string said_by(const std::function<void()>& body) {
    ::testing::internal::CaptureStderr();
    body();
    return ::testing::internal::GetCapturedStderr();
  }
  std::filesystem::path folder_;
};

TEST_F(profile_store, gives_back_what_was_saved) {
  const auto r = example();
  EXPECT_FALSE(in_folder().find(r.key, r.hardware, now_s));
  ASSERT_TRUE(in_folder().save(r));
  const auto found = in_folder().find(r.key, r.hardware, now_s + day_s);
  ASSERT_TRUE(found);
  expect_same(*found, r.found);
}

TEST_F(profile_store, finds_the_hosts_to_which_several_connections_pay) {
  const auto several = [&](std::string_view rail = "tcp:eth0") {
    std::map<std::string, int> found;
    for (const auto& r : in_folder().several("node1", rail, example().hardware, now_s))
      found[r.key.there] = r.found.connections;
    return found;
  };
  const auto save = [&](const char* here, const char* there, int connections) {
    auto r = example();
    r.key.here = here;
    r.key.there = there;
    r.found.connections = connections;
    ASSERT_TRUE(in_folder().save(r));
  };
  using hosts = std::map<std::string, int>;
  EXPECT_EQ(several(), hosts{});
  save("node1", "node2", 1);
  EXPECT_EQ(several(), hosts{});
  save("node1", "node3", 2);
  save("node1", "node4", 4);
  save("node11", "node2", 4);
  save("node2", "node1", 4);
  EXPECT_EQ(several(), (hosts{{"node3", 2}, {"node4", 4}}));
  EXPECT_EQ(several("tcp:eth1"), hosts{});
  EXPECT_EQ(several("eth0"), hosts{});
  save("node1", "node3", 1);  // measured again
  EXPECT_EQ(several(), (hosts{{"node4", 4}}));
}

TEST_F(profile_store, a_mark_without_a_sound_profile_means_nothing) {
  auto r = example();
  r.found.connections = 4;
  ASSERT_TRUE(in_folder().save(r));
  const auto file = in_folder().file_of(r.key);
  const auto several = [&](std::string_view hardware, std::uint64_t at_s) {
    return in_folder().several(r.key.here, r.key.rail, hardware, at_s).size();
  };
  EXPECT_EQ(several(r.hardware, now_s), 1u);
  EXPECT_EQ(several("100 Mbit/s, mtu 1500", now_s), 0u);
  EXPECT_EQ(several(r.hardware, now_s + 91 * day_s), 0u);
  std::ofstream(file, std::ios::app) << "x";
  EXPECT_EQ(several(r.hardware, now_s), 0u);
  std::filesystem::remove(file);
  EXPECT_EQ(said_by([&] { EXPECT_EQ(several(r.hardware, now_s), 0u); }), "");
}

TEST_F(profile_store, nothing_is_said_where_there_is_none) {
  const auto r = example();
  EXPECT_EQ(said_by([&] { EXPECT_FALSE(in_folder().find(r.key, r.hardware, now_s)); }), "");
}

TEST_F(profile_store, a_stale_profile_is_not_used_and_that_is_said_in_one_line) {
  const auto r = example();
  ASSERT_TRUE(in_folder().save(r));
  const auto said =
      said_by([&] { EXPECT_FALSE(in_folder().find(r.key, r.hardware, now_s + 91 * day_s)); });
  EXPECT_THAT(said, HasSubstr("is not used: it is 91 days old\n"));
  EXPECT_THAT(said_by([&] { EXPECT_FALSE(in_folder().find(r.key, r.hardware, 0)); }),
              HasSubstr("it is from the future\n"));
}

TEST_F(profile_store, a_profile_of_other_hardware_is_not_used) {
  const auto r = example();
  ASSERT_TRUE(in_folder().save(r));
  EXPECT_THAT(
      said_by([&] { EXPECT_FALSE(in_folder().find(r.key, "100 Mbit/s, mtu 1500", now_s)); }),
      HasSubstr("it is of 1000 Mbit/s, mtu 1500, the rail has 100 Mbit/s, mtu 1500 now"));
}

TEST_F(profile_store, a_damaged_profile_is_noticed_and_can_be_written_again) {
  const auto r = example();
  ASSERT_TRUE(in_folder().save(r));
  std::ofstream(in_folder().file_of(r.key), std::ios::app) << "x";
  EXPECT_THAT(said_by([&] { EXPECT_FALSE(in_folder().find(r.key, r.hardware, now_s)); }),
              HasSubstr("is not used: "));
  ASSERT_TRUE(in_folder().save(r));
  EXPECT_TRUE(in_folder().find(r.key, r.hardware, now_s));
}

TEST_F(profile_store, names_stay_inside_the_folder_and_apart) {
  auto one = example();
  auto other = example();
  one.key.here = "../../etc";
  one.key.there = "a_b";
  other.key.there = "a";
  EXPECT_EQ(in_folder().file_of(one.key).parent_path(), folder_ / "profiles");
  one.key.here = other.key.here = "a";
  one.key.there = "b_c";
  other.key.there = "b";
  other.key.rail = "c_" + one.key.rail;
  EXPECT_NE(in_folder().file_of(one.key), in_folder().file_of(other.key));
}

TEST_F(profile_store, a_reader_never_sees_a_profile_half_written) {
  const auto r = example();
  ASSERT_TRUE(in_folder().save(r));
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(in_folder().save(r));
  });
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(in_folder().find(r.key, r.hardware, now_s));
  writer.join();
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& f : std::filesystem::directory_iterator(folder_ / "profiles"))
    ++files;
  EXPECT_EQ(files, 1u);
}

TEST_F(profile_store, a_folder_that_cannot_be_written_is_a_fault_that_names_it) {
  std::ofstream(folder_ / "profiles") << "a file";
  const auto done = in_folder().save(example());
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr((folder_ / "profiles").string()));
}

}  // namespace
}  // namespace headway::sampling
