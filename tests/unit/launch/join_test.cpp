// Which launcher is detected from the environment, and the job that results.
#include "launch/join.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "launch/pmix/pmix_launcher.hpp"

namespace headway::launch::join_tests {
namespace {

using ::testing::HasSubstr;

struct told {
  std::vector<const char*> entries;
  explicit told(std::vector<const char*> words) : entries(std::move(words)) {
    entries.push_back(nullptr);
  }
  [[nodiscard]] environment view() const { return environment(entries.data()); }
};

std::string warning_of(const told& words) {
  ::testing::internal::CaptureStderr();
  const auto joined = find_launcher(words.view(), settings{});
  auto text = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(joined);
  EXPECT_EQ((*joined)->who().size, 1);
  return text;
}

TEST(join, without_a_launcher_we_are_rank_0_of_1_and_nothing_is_said) {
  EXPECT_EQ(warning_of(told({"PATH=/bin"})), "");
  const auto found = find_launcher(told({}).view(), settings{});
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->who().rank, 0);
  EXPECT_EQ((*found)->who().launcher, "none");
  EXPECT_NE((*found)->who().job_id, (*find_launcher(told({}).view(), settings{}))->who().job_id);
}

TEST(join, a_launcher_that_is_not_understood_is_named_in_one_line) {
  const struct {
    std::vector<const char*> words;
    const char* expected;
  } cases[] = {
      {{"OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=x"}, "mpirun (OMPI_COMM_WORLD_SIZE=4)"},
      {{"PMIX_NAMESPACE=slurm.pmix.1.0", "PMIX_RANK=0"}, "PMIX_NAMESPACE=slurm.pmix.1.0"},
      {{"SLURM_STEP_NUM_TASKS=2", "PMIX_NAMESPACE=slurm.pmix.1.0"},
       "PMIX_NAMESPACE=slurm.pmix.1.0"},
      {{"PMIX_SERVER_URI2=x", "OMPI_COMM_WORLD_SIZE=4"}, "mpirun (OMPI_COMM_WORLD_SIZE=4)"},
      {{"SLURM_NTASKS=2"}, "srun"},
      {{"SLURM_NTASKS=2", "SLURM_STEP_NUM_TASKS=2"}, "SLURM_STEP_NUM_TASKS=2"},
      {{"PMI_FD=941"}, "PMI_FD=941 is not an open socket"},
      {{"PMI_FD=abc", "PMI_RANK=1", "PMI_SIZE=2"}, "PMI_FD=abc"},
  };
  for (const auto& one : cases) {
    const auto text = warning_of(told(one.words));
    EXPECT_THAT(text, HasSubstr(one.expected));
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  }
}

TEST(join, one_task_alone_needs_no_warning) {
  EXPECT_EQ(warning_of(told({"SLURM_NTASKS=1"})), "");
  EXPECT_EQ(warning_of(told({"SLURM_NTASKS=8", "SLURM_STEP_NUM_TASKS=1"})), "");
  EXPECT_EQ(warning_of(told({"SLURM_STEP_NUM_TASKS=1", "PMIX_NAMESPACE=slurm.pmix.1.0"})), "");
  EXPECT_EQ(warning_of(told({"OMPI_COMM_WORLD_SIZE=1"})), "");
}

TEST(join, a_pmix_server_is_one_that_gives_its_address) {
  EXPECT_FALSE(pmix_server_is_named(told({"PMIX_NAMESPACE=a", "PMIX_RANK=0"}).view()));
  EXPECT_FALSE(pmix_server_is_named(told({"PMIX_SERVER_URI2=a", "PMIX_RANK=0"}).view()));
  for (const auto* address : {"PMIX_SERVER_URI=a", "PMIX_SERVER_URI2=a", "PMIX_SERVER_URI41=a"})
    EXPECT_TRUE(pmix_server_is_named(told({"PMIX_NAMESPACE=a", "PMIX_RANK=0", address}).view()));
}

TEST(join, refuses_a_rank_that_makes_no_sense) {
  for (const auto& words : std::vector<std::vector<const char*>>{{"PMI_RANK=2", "PMI_SIZE=2"},
                                                                 {"PMI_RANK=-1", "PMI_SIZE=2"},
                                                                 {"PMI_RANK=0"},
                                                                 {"PMI_RANK=x", "PMI_SIZE=2"}}) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const auto entry = "PMI_FD=" + std::to_string(ends[1]);
    auto all = words;
    all.push_back(entry.c_str());
    const auto joined = find_launcher(told(all).view(), settings{});
    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().kind, base::fault_kind::bad_input);
    close(ends[0]);
  }
}

/// A server that accepts one connection and sends the lines of the PMI_PORT variant.
void serve_one(int listener) {
  const int peer = accept(listener, nullptr, nullptr);
  const auto hear = [&] {
    std::string heard;
    for (char c; read(peer, &c, 1) == 1 && c != '\n';) heard += c;
    return heard;
  };
  const auto say = [&](std::string_view text) {
    send(peer, text.data(), text.size(), MSG_NOSIGNAL);
  };
  EXPECT_EQ(hear(), "cmd=initack pmiid=7");
  say("cmd=initack rc=0\ncmd=set size=5\ncmd=set rank=3\ncmd=set debug=0\n");
  for (const auto* line :
       {"cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n",
        "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n", "cmd=appnum appnum=2\n",
        "cmd=universe_size size=9\n", "cmd=my_kvsname kvsname=here\n"}) {
    hear();
    say(line);
  }
  close(peer);
}

TEST(join, dials_PMI_PORT_and_is_told_its_place) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::thread server(serve_one, listener);
  const auto port = "PMI_PORT=localhost:" + std::to_string(ntohs(address.sin_port));
  const auto joined = find_launcher(told({port.c_str(), "PMI_ID=7"}).view(), settings{});
  server.join();
  close(listener);
  ASSERT_TRUE(joined) << joined.error().text;
  const auto& who = (*joined)->who();
  EXPECT_EQ(who.rank, 3);
  EXPECT_EQ(who.size, 5);
  EXPECT_EQ(who.app_number, 2);
  EXPECT_EQ(who.universe_size, 9);
  EXPECT_EQ(who.job_id, "here");
}

TEST(join, a_PMI_PORT_that_nobody_serves_is_a_fault) {
  EXPECT_FALSE(find_launcher(told({"PMI_PORT=localhost:1", "PMI_ID=0"}).view(), settings{}));
  EXPECT_FALSE(find_launcher(told({"PMI_PORT=nonsense", "PMI_ID=0"}).view(), settings{}));
}

}  // namespace
}  // namespace headway::launch::join_tests
