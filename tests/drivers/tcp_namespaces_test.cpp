// A TCP rail between two processes in two network namespaces with a cable between them, as between
// machines. Needs root; otherwise it is skipped with that reason.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

#include "base/clock.hpp"
#include "rails/selection.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/job_table.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

bool run(const std::string& command) {
  return std::system((command + " 2>/dev/null").c_str()) == 0;
}

/// Namespaces hwA-PID and hwB-PID with a cable, each with its loopback down.
class cable {
 public:
  cable() {
    laid_ = run("ip netns add " + space(0)) && run("ip netns add " + space(1)) &&
            run(fmt::format("ip link add {} netns {} type veth peer name {} netns {}", end(0),
                            space(0), end(1), space(1)));
    for (int i = 0; i < 2 && laid_; ++i)
      laid_ = run(fmt::format("ip -n {} addr add 10.251.{}.{}/24 dev {}", space(i), getpid() % 250,
                              i + 1, end(i))) &&
              run(fmt::format("ip -n {} link set {} up", space(i), end(i)));
  }
  ~cable() {
    run("ip netns del " + space(0));
    run("ip netns del " + space(1));
  }
  [[nodiscard]] bool laid() const { return laid_; }
  [[nodiscard]] static std::string space(int i) {
    return fmt::format("hw{}-{}", i == 0 ? "A" : "B", owner);
  }
  [[nodiscard]] static std::string end(int i) { return fmt::format("veth-hw{}", i); }
  static void cut() { run(fmt::format("ip -n {} link set {} down", space(0), end(0))); }

 private:
  static inline const int owner = getpid();
  bool laid_ = false;
};

bool enter(const std::string& space) {
  const int fd = open(("/var/run/netns/" + space).c_str(), O_RDONLY | O_CLOEXEC);
  const bool there = fd >= 0 && setns(fd, CLONE_NEWNET) == 0;
  if (fd >= 0) ::close(fd);
  return there;
}

std::unique_ptr<driver> make_driver(int rank, const std::string& job, std::string_view rails) {
  const driver_kind drivers[] = {{.name = "tcp", .networked = true}};
  const auto interfaces = list_interfaces();
  const auto chosen = select_rails(rails, *interfaces, drivers);
  if (!chosen || chosen->size() != 1) return nullptr;
  tcp::settings how;
  how.dead_ns = 2 * second_ns;
  return std::make_unique<tcp::tcp_driver>(
      tcp::config{.known = &headway::testing::table_of(job, 2),
                  .me = peer_id{static_cast<std::uint32_t>(rank)},
                  .secret = {},
                  .interfaces = {*chosen->front().interface},
                  .how = how});
}

bool live_until(station& s, const std::function<bool()>& enough, unsigned seconds = 10) {
  const auto deadline = base::machine_now_ns() + seconds * second_ns;
  for (unsigned round = 0; !enough(); ++round) {
    const auto now = base::machine_now_ns();
    if (now > deadline) return false;
    if (round % 1000 == 0) s->tick(now);
    if (s.step() == 0) usleep(10);
  }
  return true;
}

/// Runs one rank: opens its driver, exchanges addresses with the other through `line`, runs `body`.
int live(int rank, int line, const std::string& job, std::string_view rails,
         const std::function<bool(int, station&)>& body) {
  if (!enter(cable::space(rank))) return 2;
  auto made = make_driver(rank, job, rails);
  if (!made) return 3;
  station s(std::move(made));
  const auto own = s->open();
  if (!own || send(line, own->data(), own->size(), 0) < 0) return 4;
  std::vector<std::byte> theirs(4096);
  const auto got = recv(line, theirs.data(), theirs.size(), 0);
  if (got <= 0) return 5;
  theirs.resize(static_cast<std::size_t>(got));
  if (!s->connect(peer_id{static_cast<std::uint32_t>(1 - rank)}, theirs)) return 6;
  const bool well = body(rank, s);
  s->close();
  return well ? 0 : 1;
}

/// Exit codes of both ranks.
std::pair<int, int> two_ranks(std::string_view rails,
                              const std::function<bool(int, station&)>& body) {
  int lines[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, lines) != 0) return {9, 9};
  const auto job = fresh_job();
  pid_t children[2];
  for (int rank = 0; rank < 2; ++rank) {
    children[rank] = fork();
    if (children[rank] != 0) continue;
    ::close(lines[1 - rank]);  // so that the end of the other is noticed
    _exit(live(rank, lines[rank], job, rails, body));
  }
  ::close(lines[0]);
  ::close(lines[1]);
  int codes[2] = {8, 8};
  for (int rank = 0; rank < 2; ++rank) {
    int status = 0;
    waitpid(children[rank], &status, 0);
    if (WIFEXITED(status)) codes[rank] = WEXITSTATUS(status);
  }
  return {codes[0], codes[1]};
}

class tcp_namespaces : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to make network namespaces";
    laid.emplace();
    if (!laid->laid()) GTEST_SKIP() << "no network namespaces here (ip netns add, veth)";
  }
  std::optional<cable> laid;
};

bool exchange(int rank, station& s) {
  const auto other = peer_id{static_cast<std::uint32_t>(1 - rank)};
  const auto large = pattern(4'000'000, 1);
  std::vector<std::byte> target(large.size());
  const ticket mine = show(*s, {.bytes = target});
  const auto taken = [&](const std::function<post()>& offer) {
    post said = post::retry;
    static_cast<void>(live_until(s, [&] { return (said = offer()) != post::retry; }));
    return said;
  };
  const auto give = [&](const packet& p) {
    const auto said = taken([&] { return s->send(other, p); });
    return said == post::done || said == post::posted;
  };
  if (!give({.header = std::as_bytes(std::span(&mine, 1))})) return false;
  if (!live_until(s, [&] { return s.received.size() == 1; })) return false;
  ticket theirs;
  if (s.received[0].size() != sizeof theirs) return false;
  std::memcpy(&theirs, s.received[0].data(), sizeof theirs);
  const auto said = taken([&] { return s->memory()->put(other, {.exposed = theirs}, large, 0); });
  if (said != post::done && said != post::posted) return false;
  const std::size_t due = said == post::posted ? 1 : 0;  // until then `large` is being read
  for (int i = 0; i < 100; ++i)
    if (!give({.header = bytes_of("small")})) return false;
  return live_until(s,
                    [&] {
                      return s.received.size() == 101 && s.landed_bytes == large.size() &&
                             s.sent.size() == due;
                    }) &&
         target == large && s.lost.empty();
}

TEST_F(tcp_namespaces, ranks_find_each_other_by_default) {
  EXPECT_EQ(two_ranks("", exchange), std::pair(0, 0));
}

TEST_F(tcp_namespaces, ranks_find_each_other_over_a_named_interface) {
  EXPECT_EQ(two_ranks("tcp:veth-hw*", exchange), std::pair(0, 0));
}

TEST_F(tcp_namespaces, a_cable_that_was_cut_is_noticed_in_bounded_time_on_both_sides) {
  const auto codes = two_ranks("", [](int rank, station& s) {
    const auto other = peer_id{static_cast<std::uint32_t>(1 - rank)};
    if (s->send(other, {.header = bytes_of("hello")}) == post::down) return false;
    if (!live_until(s, [&] { return s.received.size() == 1; })) return false;
    if (rank == 0) {
      usleep(200'000);
      cable::cut();
      // This rank keeps sending, the other one only waits.
      (void)s->send(other, {.header = bytes_of("into the void")});
    }
    const auto begin = base::machine_now_ns();
    return live_until(
               s, [&] { return s.lost.size() == 1; }, 9) &&
           base::machine_now_ns() - begin < 8 * second_ns;
  });
  EXPECT_EQ(codes, std::pair(0, 0));
}

/// Bytes that an interface of the namespace that we are in has sent.
std::uint64_t bytes_sent_by(const std::string& name) {
  std::ifstream all("/proc/self/net/dev");
  for (std::string line; std::getline(all, line);) {
    const auto colon = line.find(name + ":");
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + name.size() + 1));
    std::uint64_t number = 0;
    for (int column = 0; column < 9; ++column) numbers >> number;
    return number;
  }
  return 0;
}

TEST_F(tcp_namespaces, two_interfaces_of_one_subnet_each_carry_their_own) {
  // A second cable beside the first, and addresses of the same subnet on it.
  for (int i = 0; i < 2; ++i) {
    const auto name = fmt::format("veth-hx{}", i);
    if (i == 0 && !run(fmt::format("ip link add veth-hx0 netns {} type veth peer name veth-hx1 "
                                   "netns {}",
                                   cable::space(0), cable::space(1))))
      FAIL() << "no second cable";
    ASSERT_TRUE(run(fmt::format("ip -n {} addr add 10.251.{}.{}/24 dev {}", cable::space(i),
                                getpid() % 250, i + 11, name)) &&
                run(fmt::format("ip -n {} link set {} up", cable::space(i), name)));
  }
  for (const std::string which : {"veth-hw", "veth-hx"}) {
    const auto body = [&](int rank, station& s) {
      const auto own = which + std::to_string(rank);
      const auto before = bytes_sent_by(own);
      // Both send four megabytes; on the other cable there would be none of them. What was taken
      // may still be in the kernel.
      return exchange(rank, s) &&
             live_until(s, [&] { return bytes_sent_by(own) - before > 4'000'000; });
    };
    EXPECT_EQ(two_ranks("tcp:" + which + "*", body), std::pair(0, 0)) << which;
  }
}

}  // namespace
}  // namespace headway::rails::testing
