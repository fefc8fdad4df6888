// Processes that were started separately become one job.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "launch/job.hpp"
#include "launch/rendezvous/rendezvous_launcher.hpp"
#include "launch/rendezvous/rendezvous_server.hpp"
#include "tests/free_port.hpp"

namespace headway::launch::rendezvous_tests {
namespace {

using ::testing::HasSubstr;

constexpr const char* a_secret = "0123456789abcdef";

rendezvous_settings here(int processes) {
  return {.host = "127.0.0.1",
          .port = headway::testing::free_port(),
          .secret = a_secret,
          .processes = processes};
}

void wait_for_host(const rendezvous_settings& where) {
  const auto places = stream_address::find(where.host, where.port);
  ASSERT_TRUE(places);
  while (!places->front().call().open()) usleep(1000);
}

TEST(rendezvous, every_process_gets_a_rank_and_sees_what_each_published) {
  const auto where = here(4);
  std::vector<std::unique_ptr<job>> jobs(4);
  {
    std::vector<std::jthread> threads;
    for (auto& one : jobs)
      threads.emplace_back([&] {
        auto met = rendezvous_launcher::meet(where, settings{});
        ASSERT_TRUE(met) << met.error().text;
        auto joined = job::join(std::move(*met));
        ASSERT_TRUE(joined);
        one = std::move(*joined);
        const std::byte mine{static_cast<unsigned char>(one->who().rank)};
        ASSERT_TRUE(one->publish({&mine, 1}));
        ASSERT_TRUE(one->barrier());
      });
  }
  std::set<int> ranks;
  for (const auto& one : jobs) {
    ranks.insert(one->who().rank);
    EXPECT_EQ(one->who().size, 4);
    EXPECT_EQ(one->who().job_id, jobs[0]->who().job_id);
    EXPECT_EQ(one->secret(), jobs[0]->secret());
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_EQ(one->record_of(rank)->front(), static_cast<std::byte>(rank));
    EXPECT_FALSE(one->record_of(4));
    EXPECT_TRUE(one->finish());
  }
  EXPECT_EQ(ranks, (std::set{0, 1, 2, 3}));
}

TEST(rendezvous, a_wrong_secret_is_one_line_for_both_and_does_not_end_the_wait) {
  const auto where = here(2);
  ::testing::internal::CaptureStderr();
  {
    std::jthread host([&] { EXPECT_TRUE(rendezvous_launcher::meet(where, settings{})); });
    auto wrong = where;
    wrong.secret = "another secret of the same length";
    wait_for_host(where);
    const auto met = rendezvous_launcher::meet(wrong, settings{});
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().kind, base::fault_kind::refused);
    EXPECT_THAT(met.error().text, HasSubstr("has another secret"));
    EXPECT_TRUE(rendezvous_launcher::meet(where, settings{}));
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("does not know the secret"));
}

TEST(rendezvous, another_number_of_processes_is_refused_by_name) {
  const auto where = here(2);
  ::testing::internal::CaptureStderr();
  {
    std::jthread host([&] { EXPECT_TRUE(rendezvous_launcher::meet(where, settings{})); });
    wait_for_host(where);
    auto other = where;
    other.processes = 3;
    const auto met = rendezvous_launcher::meet(other, settings{});
    ASSERT_FALSE(met);
    EXPECT_THAT(met.error().text, HasSubstr("is one of 2 processes, not 3"));
    EXPECT_TRUE(rendezvous_launcher::meet(where, settings{}));
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("expects 3 processes"));
}

TEST(rendezvous, an_address_that_cannot_be_found_is_named_with_its_setting) {
  auto nowhere = here(2);
  nowhere.port = "no port";
  const auto met = rendezvous_launcher::meet(nowhere, settings{});
  ASSERT_FALSE(met);
  EXPECT_THAT(met.error().text, HasSubstr("HEADWAY_RENDEZVOUS=127.0.0.1:no port: "));
}

TEST(rendezvous, silent_connections_do_not_keep_a_guest_out) {
  const auto where = here(2);
  const auto places = stream_address::find(where.host, where.port);
  ASSERT_TRUE(places);
  std::jthread host([&] { EXPECT_TRUE(rendezvous_launcher::meet(where, settings{})); });
  wait_for_host(where);
  std::vector<stream_socket> silent;
  for (std::size_t i = 0; i < 3 * rendezvous_server::unauthenticated_max; ++i)
    silent.push_back(places->front().call());
  // Sooner than the silent ones lose the time that each has for its proof.
  const settings soon{.start_timeout_ns = 4'000'000'000};
  EXPECT_TRUE(rendezvous_launcher::meet(where, soon));
}

TEST(rendezvous, without_a_descriptor_the_host_says_so_and_goes_on_when_there_is_one) {
  const auto where = here(2);
  ::testing::internal::CaptureStderr();
  {
    // All numbers below the limit are in use, whatever the host closes meanwhile. The limit also
    // bounds how many descriptors `poll` takes.
    std::vector<stream_socket> held;
    for (int i = 0; i < 16; ++i) held.emplace_back(dup(0));
    const int lowest_free = dup(0);
    close(lowest_free);
    std::jthread host([&] { EXPECT_TRUE(rendezvous_launcher::meet(where, settings{})); });
    wait_for_host(where);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(where.port)));
    const stream_socket guest(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    rlimit usual{};
    getrlimit(RLIMIT_NOFILE, &usual);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(lowest_free), .rlim_max = usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    EXPECT_EQ(connect(guest.descriptor(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    usleep(300'000);
    setrlimit(RLIMIT_NOFILE, &usual);
    EXPECT_TRUE(rendezvous_launcher::meet(where, settings{}));
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("no connection is accepted"));
}

TEST(rendezvous, settings_come_from_the_environment_or_from_a_file_of_the_owners_alone) {
  const auto given = rendezvous_from("[::1]:4711", a_secret, 0);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->host, "::1");
  EXPECT_EQ(given->port, "4711");
  EXPECT_EQ(given->processes, 2);
  EXPECT_THAT(rendezvous_from("nowhere", a_secret, 0).error().text, HasSubstr("not HOST:PORT"));
  EXPECT_THAT(rendezvous_from("host:99999", a_secret, 0).error().text, HasSubstr("not HOST:PORT"));
  EXPECT_THAT(rendezvous_from("host:1", "short", 0).error().text, HasSubstr("at least 16 letters"));

  const auto path = ::testing::TempDir() + "/rendezvous_test_file";
  std::ofstream(path) << "# where we meet\naddress  render.example:4711\nsecret " << a_secret
                      << "\nprocesses 5\n";
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_THAT(rendezvous_from(path, {}, 0).error().text, HasSubstr("others than its owner"));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  const auto read = rendezvous_from(path, {}, 0);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->address(), "render.example:4711");
  EXPECT_EQ(read->secret, a_secret);
  EXPECT_EQ(read->processes, 5);
  EXPECT_EQ(rendezvous_from(path, {}, 3)->processes, 3) << "the environment counts first";
  unlink(path.c_str());
}

}  // namespace
}  // namespace headway::launch::rendezvous_tests
