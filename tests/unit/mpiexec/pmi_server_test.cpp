#include "tools/mpiexec/pmi_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway::mpiexec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Records the server's answers to each rank, and its calls to the host.
struct listener final : pmi_host {
  std::map<int, std::vector<std::string>> said;
  std::vector<std::string> wanted;

  void reply(int rank, std::shared_ptr<const std::string> bytes) override {
    said[rank].push_back(*bytes);
  }
  void abort_wanted(int rank, int exit_code, std::string why) override {
    wanted.push_back("abort " + std::to_string(rank) + " " + std::to_string(exit_code) + " " + why);
  }
  void protocol_broken(int rank, std::string what) override {
    wanted.push_back("broken " + std::to_string(rank) + " " + what);
  }
  base::result<pid_t> spawn_wanted(const launch::spawn_request& what) override {
    if (what.arguments.empty()) return base::failed(base::fault_kind::system, "no \\ job");
    wanted.push_back("spawn in " + what.directory + " of " + what.arguments.back());
    return 4711;
  }
  std::string last(int rank) { return said[rank].empty() ? "" : said[rank].back(); }
};

struct served {
  listener host;
  pmi_server server;
  explicit served(int size = 2)
      : server(host, {size, "job", "00ff", std::vector<int>(static_cast<std::size_t>(size), 5)}) {}
  std::string ask(int rank, const std::string& line) {
    host.said[rank].clear();
    server.receive(rank, line + "\n");
    return host.last(rank);
  }
};

TEST(pmi_server, answers_what_every_client_asks_first) {
  served job(3);
  EXPECT_EQ(job.ask(0, "cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n");
  EXPECT_EQ(job.ask(0, "cmd=get_maxes"),
            "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  EXPECT_EQ(job.ask(0, "cmd=get_appnum"), "cmd=appnum rc=0 appnum=5\n");
  EXPECT_EQ(job.ask(0, "cmd=get_universe_size"), "cmd=universe_size rc=0 size=3\n");
  EXPECT_EQ(job.ask(0, "cmd=get_my_kvsname"), "cmd=my_kvsname rc=0 kvsname=job\n");
  EXPECT_EQ(job.ask(0, "cmd=get kvsname=job key=PMI_process_mapping"),
            "cmd=get_result rc=0 value=(vector,(0,1,3))\n");
}

TEST(pmi_server, gives_the_secret_only_to_headways_library) {
  served job;
  EXPECT_EQ(job.ask(0, "cmd=init pmi_version=1 pmi_subversion=1").find("secret"),
            std::string::npos);
  EXPECT_THAT(job.ask(1, "cmd=init pmi_version=1 pmi_subversion=1 headway=1"),
              HasSubstr("secret=00ff"));
}

TEST(pmi_server, refuses_the_second_version_of_the_protocol) {
  served job;
  EXPECT_THAT(job.ask(0, "cmd=init pmi_version=2 pmi_subversion=0"), HasSubstr("rc=-1"));
  EXPECT_FALSE(job.server.joined(0));
}

TEST(pmi_server, keeps_values_as_they_came) {
  served job;
  EXPECT_EQ(job.ask(0, "cmd=put kvsname=job key=a value=x\\ y=z"), "cmd=put_result rc=0\n");
  EXPECT_EQ(job.ask(1, "cmd=get kvsname=job key=a"), "cmd=get_result rc=0 value=x\\ y=z\n");
  EXPECT_EQ(job.ask(0, "cmd=put kvsname=job key=a value=new"), "cmd=put_result rc=0\n");
  EXPECT_EQ(job.ask(1, "cmd=get kvsname=job key=a"), "cmd=get_result rc=0 value=new\n");
  EXPECT_THAT(job.ask(1, "cmd=get kvsname=job key=b"), StartsWith("cmd=get_result rc=1"));
  EXPECT_THAT(job.ask(1, "cmd=put kvsname=job key=PMI_x value=1"), HasSubstr("rc=-1"));
  EXPECT_THAT(job.ask(1, "cmd=put kvsname=job"), HasSubstr("rc=-1"));
}

TEST(pmi_server, a_barrier_opens_when_the_last_rank_comes) {
  served job(3);
  EXPECT_EQ(job.ask(2, "cmd=barrier_in"), "");
  EXPECT_EQ(job.ask(0, "cmd=barrier_in"), "");
  EXPECT_EQ(job.ask(1, "cmd=barrier_in"), "cmd=barrier_out rc=0\n");
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(job.host.last(rank), "cmd=barrier_out rc=0\n");
  EXPECT_EQ(job.ask(0, "cmd=barrier_in"), "");
}

TEST(pmi_server, a_barrier_does_not_wait_for_ranks_that_have_ended) {
  served job(3);
  job.ask(0, "cmd=barrier_in");
  job.ask(1, "cmd=barrier_in");
  EXPECT_EQ(job.host.last(0), "");
  job.server.rank_ended(2);
  EXPECT_EQ(job.host.last(0), "cmd=barrier_out rc=0\n");
  job.server.rank_ended(2);  // a second report changes nothing
  EXPECT_EQ(job.ask(0, "cmd=barrier_in"), "");
  job.server.rank_ended(0);
  EXPECT_EQ(job.ask(1, "cmd=barrier_in"), "cmd=barrier_out rc=0\n");
}

TEST(pmi_server, reports_to_a_rank_that_waits_which_ranks_are_late) {
  served job(4);
  job.server.rank_ended(2);
  job.ask(0, "cmd=barrier_in");
  EXPECT_EQ(job.ask(0, "cmd=headway_missing"), "cmd=headway_missing rc=0 ranks=1,3\n");
}

TEST(pmi_server, publishes_finds_and_forgets_names) {
  served job;
  EXPECT_THAT(job.ask(0, "cmd=lookup_name service=s"), HasSubstr("rc=1"));
  EXPECT_THAT(job.ask(0, "cmd=publish_name service=s port=p"), HasSubstr("publish_result rc=0"));
  EXPECT_THAT(job.ask(1, "cmd=publish_name service=s port=q"), HasSubstr("rc=1"));
  EXPECT_THAT(job.ask(1, "cmd=lookup_name service=s"), HasSubstr("port=p\n"));
  EXPECT_THAT(job.ask(1, "cmd=unpublish_name service=s"), HasSubstr("unpublish_result rc=0"));
  EXPECT_THAT(job.ask(1, "cmd=unpublish_name service=s"), HasSubstr("rc=1"));
}

TEST(pmi_server, passes_an_abort_on_with_its_reason) {
  served job;
  job.ask(1, "cmd=abort exitcode=7 message=no\\ good");
  EXPECT_THAT(job.host.wanted, ElementsAre("abort 1 7 no good"));
}

TEST(pmi_server, knows_which_ranks_are_between_init_and_finalize) {
  served job;
  EXPECT_FALSE(job.server.inside(0));
  job.ask(0, "cmd=init pmi_version=1 pmi_subversion=1");
  EXPECT_TRUE(job.server.inside(0));
  EXPECT_EQ(job.ask(0, "cmd=finalize"), "cmd=finalize_ack rc=0\n");
  EXPECT_FALSE(job.server.inside(0));
  job.ask(0, "cmd=init pmi_version=1 pmi_subversion=1");  // the next program of a script
  EXPECT_TRUE(job.server.inside(0));
}

TEST(pmi_server, refuses_to_spawn_after_the_last_block) {
  served job;
  const std::string block = "mcmd=spawn\nnprocs=1\nexecname=cmd=abort\ntotspawns=2\nspawnssofar=";
  EXPECT_EQ(job.ask(0, block + "1\nendcmd"), "");
  EXPECT_THAT(job.ask(0, block + "2\nendcmd"), StartsWith("cmd=spawn_result rc=-1"));
  EXPECT_THAT(job.host.wanted, IsEmpty());
}

TEST(pmi_server, has_the_host_start_another_job) {
  served job;
  const launch::spawn_request wanted{
      .arguments = {"-n", "2", "a program"}, .environment = {"A=\n", ""}, .directory = "/a folder"};
  EXPECT_EQ(job.ask(0, "cmd=headway_spawn job=" + wanted.packed()),
            "cmd=headway_spawn rc=0 pid=4711\n");
  EXPECT_THAT(job.host.wanted, ElementsAre("spawn in /a folder of a program"));
  EXPECT_EQ(job.ask(0, "cmd=headway_spawn job=" + launch::spawn_request{}.packed()),
            "cmd=headway_spawn rc=-1 msg=no\\ \\\\\\ job\n");
  EXPECT_EQ(job.ask(0, "cmd=headway_spawn"), "cmd=headway_spawn rc=-1 msg=no_job\n");
}

TEST(pmi_server, reports_a_broken_protocol_once_and_reads_no_more) {
  for (const auto* line : {"hello", "=", "cmd=barrier_in\ncmd=barrier_in"}) {
    served job;
    job.ask(0, line);
    EXPECT_EQ(job.host.wanted.size(), 1u) << line;
    EXPECT_EQ(job.ask(0, "cmd=get_appnum"), "");
    EXPECT_EQ(job.host.wanted.size(), 1u);
    EXPECT_NE(job.ask(1, "cmd=get_appnum"), "");
  }
  served job;
  job.server.receive(0, std::string(pmi_server::line_bytes_max + 1, 'x'));
  EXPECT_EQ(job.host.wanted.size(), 1u);
}

TEST(pmi_server, refuses_an_unknown_command_and_goes_on) {
  served job;
  EXPECT_EQ(job.ask(0, "cmd=fly"), "cmd=error rc=-1 msg=unknown_command\n");
  EXPECT_EQ(job.ask(0, "cmd=get_appnum"), "cmd=appnum rc=0 appnum=5\n");
}

}  // namespace
}  // namespace headway::mpiexec
