// The sentences of rails/driver.hpp that need a second process: its death, and memory that the two
// processes do not share.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

#include "base/clock.hpp"
#include "rails/memory.hpp"
#include "world.hpp"

namespace headway::rails::testing {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

/// Steps `s` with a tick every 50 ms, until `enough` or for ten seconds.
bool live_until(station& s, const std::function<bool()>& enough) {
  const auto deadline = base::machine_now_ns() + 10 * second_ns;
  std::uint64_t next_tick = 0;
  while (!enough()) {
    const auto now = base::machine_now_ns();
    if (now > deadline) return false;
    if (now > next_tick) {
      s->tick(now);
      next_tick = now + second_ns / 20;
    }
    if (s.step() == 0) usleep(20);
  }
  return true;
}

ticket ticket_in(const std::string& packet) {
  ticket read;
  if (packet.size() == sizeof read) std::memcpy(&read, packet.data(), sizeof read);
  return read;
}

/// Rank 0 is this process, rank 1 a child that runs `child_body` and exits with 0 if it returns
/// true.
class two_processes {
 public:
  two_processes(const kind& k, const std::function<bool(station&)>& child_body) {
    int lines[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, lines) != 0) throw std::runtime_error("socketpair");
    const std::string job = fresh_job();
    child_ = fork();
    if (child_ < 0) throw std::runtime_error("fork");
    const int rank = child_ == 0 ? 1 : 0;
    ::close(lines[1 - rank]);
    line_ = lines[rank];
    me.emplace(k.make(job, rank, 2));
    meet(peer_id{static_cast<std::uint32_t>(1 - rank)});
    if (child_ != 0) return;
    const bool well = child_body(*me);
    (*me)->close();
    _exit(well ? 0 : 1);
  }
  ~two_processes() {
    if (child_ > 0) {
      kill_child();
      end_of_child();
    }
    (*me)->close();
    ::close(line_);
  }
  void kill_child() const { ::kill(child_, SIGKILL); }
  /// Its exit code, 128 + the signal that ended it.
  int end_of_child() {
    int status = 0;
    if (child_ > 0) waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] post push(const packet& p) {
    post said = post::retry;
    const bool answered =
        live_until(*me, [&] { return (said = (*me)->send(peer_id{1}, p)) != post::retry; });
    return answered ? said : post::retry;
  }
  [[nodiscard]] post put(const remote_place& to, std::span<const std::byte> from,
                         std::uint64_t cookie = 0) {
    post said = post::retry;
    const bool answered = live_until(*me, [&] {
      return (said = (*me)->memory()->put(peer_id{1}, to, from, cookie)) != post::retry;
    });
    return answered ? said : post::retry;
  }

  std::optional<station> me;

 private:
  void meet(peer_id other) {
    const auto mine = (*me)->open();
    std::vector<std::byte> theirs(4096);
    if (!mine || ::send(line_, mine->data(), mine->size(), 0) < 0)
      throw std::runtime_error("cannot open");
    const auto got = recv(line_, theirs.data(), theirs.size(), 0);
    if (got <= 0) throw std::runtime_error("the other process is silent");
    theirs.resize(static_cast<std::size_t>(got));
    if (const auto done = (*me)->connect(other, theirs); !done)
      throw std::runtime_error(done.error().text);
  }

  pid_t child_ = 0;
  int line_ = -1;
};

class contract_processes : public ::testing::TestWithParam<kind> {};

TEST_P(contract_processes, packets_and_large_payloads_cross_between_processes) {
  const std::size_t large = 5'000'000;
  const auto echo = [&](station& s) {
    std::vector<std::byte> zone(large);
    const ticket mine = show(*s, {.bytes = zone});
    if (send_soon(*s, peer_id{0}, {.header = std::as_bytes(std::span(&mine, 1))}) == post::down)
      return false;
    if (!live_until(s, [&] { return s.landed_bytes == large && s.received.size() == 100; }))
      return false;
    const post said = put_soon(*s, peer_id{0}, {.exposed = ticket_in(s.received[0])}, zone, 4);
    return said != post::down &&
           live_until(s, [&] { return said == post::done || !s.sent.empty(); }) &&
           live_until(s, [&] { return s.received.size() == 101; });
  };
  two_processes both(GetParam(), echo);
  ASSERT_TRUE(live_until(*both.me, [&] { return both.me->received.size() == 1; }));
  const auto payload = pattern(large, 1);
  std::vector<std::byte> back(large);
  const ticket mine = show(**both.me, {.bytes = back});
  const ticket theirs = ticket_in(both.me->received.front());
  ASSERT_NE(both.put({.exposed = theirs}, payload), post::down);
  ASSERT_NE(both.push({.header = std::as_bytes(std::span(&mine, 1))}), post::down);
  for (int i = 1; i < 100; ++i) ASSERT_NE(both.push({.header = bytes_of("small")}), post::down);
  EXPECT_TRUE(live_until(*both.me, [&] { return both.me->landed_bytes == large; }));
  ASSERT_NE(both.push({.header = bytes_of("bye")}), post::down);
  EXPECT_EQ(payload, back);
  EXPECT_EQ(both.end_of_child(), 0);
}

TEST_P(contract_processes, direct_memory_is_copied_both_ways_until_its_process_dies) {
  std::vector<std::byte> shared = pattern(300'000, 1);  // the child's is at the same address
  const ticket whole{
      .id = 0, .address = reinterpret_cast<std::uint64_t>(shared.data()), .bytes = shared.size()};
  const auto before = shared, after = pattern(shared.size(), 2);
  two_processes both(GetParam(), [&](station& s) {
    return live_until(s, [&] { return s.received.size() == 1; }) && shared == after;
  });
  auto* memory = (*both.me)->memory();
  if (!memory->limits_to(peer_id{1}).direct) {
    ASSERT_NE(both.push({.header = bytes_of("end")}), post::down);
    GTEST_SKIP() << "this rail, or this kernel, copies no other process's memory directly";
  }
  EXPECT_FALSE(memory->limits_to(peer_id{0}).direct);
  ASSERT_EQ(memory->put(peer_id{1}, {.exposed = whole}, after, 0), post::done);
  EXPECT_EQ(shared, before);
  std::vector<std::byte> back(shared.size());
  EXPECT_EQ(memory->get(peer_id{1}, {.exposed = whole}, back, 0), post::done);
  EXPECT_EQ(back, after);
  std::ranges::fill(back, std::byte{});
  std::thread([&] {  // any thread
    EXPECT_EQ(memory->get(peer_id{1}, {.exposed = whole}, back, 0), post::done);
  })
      .join();
  EXPECT_EQ(back, after);
  for (const std::size_t bytes : {1, 8, 4096, 4097}) {  // the kernel has a shorter way for few
    const remote_place there{.exposed = whole, .offset = 70'001};
    const auto other = pattern(bytes, 3);
    ASSERT_EQ(memory->put(peer_id{1}, there, other, 0), post::done);
    std::vector<std::byte> some(bytes + 1);
    EXPECT_EQ(memory->get(peer_id{1}, there, some, 0), post::done);
    EXPECT_TRUE(std::ranges::equal(std::span(some).first(bytes), other)) << bytes << " bytes";
    EXPECT_EQ(some[bytes], after[there.offset + bytes]) << "behind " << bytes << " bytes";
    const auto was = std::span(after).subspan(there.offset, bytes);
    ASSERT_EQ(memory->put(peer_id{1}, there, was, 0), post::done);
  }
  const ticket nothing{.id = 0, .address = 16, .bytes = back.size()};
  const std::span<std::byte> few = std::span(back).first(8);
  EXPECT_EQ(memory->get(peer_id{1}, {.exposed = nothing}, back, 0), post::down);
  EXPECT_EQ(memory->get(peer_id{1}, {.exposed = nothing}, few, 0), post::down);
  EXPECT_EQ(memory->put(peer_id{1}, {.exposed = nothing}, few, 0), post::down);
  ASSERT_NE(both.push({.header = bytes_of("end")}), post::down);
  EXPECT_EQ(both.end_of_child(), 0);
  EXPECT_EQ(memory->get(peer_id{1}, {.exposed = whole}, back, 0), post::down);
  EXPECT_EQ(memory->get(peer_id{1}, {.exposed = whole}, few, 0), post::down);
  EXPECT_EQ(memory->put(peer_id{1}, {.exposed = whole}, few, 0), post::down);
}

TEST_P(contract_processes, a_killed_peer_is_lost_once_after_what_it_sent_before) {
  two_processes both(GetParam(), [](station& s) {
    for (int i = 0; i < 10; ++i)
      if (send_soon(*s, peer_id{0}, {.header = bytes_of("last words")}) == post::down) return false;
    live_until(s, [&] { return false; });
    return true;
  });
  // One is reaped, so that nine wait (or are under way) when it dies.
  ASSERT_TRUE(live_until(*both.me, [&] { return both.me->received.size() == 10; }));
  both.kill_child();
  both.end_of_child();
  const auto death = base::machine_now_ns();
  ASSERT_TRUE(live_until(*both.me, [&] { return !both.me->lost.empty(); }));
  EXPECT_LT(base::machine_now_ns() - death, 2 * second_ns);
  EXPECT_EQ(both.me->lost.front(), peer_id{1});
  EXPECT_EQ((*both.me)->send(peer_id{1}, {.header = bytes_of("x")}), post::down);
  const auto later = base::machine_now_ns() + second_ns / 5;
  live_until(*both.me, [&] { return base::machine_now_ns() > later; });
  EXPECT_EQ(both.me->lost.size(), 1u);
}

TEST_P(contract_processes, packets_that_wait_when_their_sender_dies_still_arrive) {
  two_processes both(GetParam(), [](station& s) {
    if (!live_until(s, [&] { return !s.received.empty(); })) return false;
    for (int i = 0; i < 10; ++i)
      if (send_soon(*s, peer_id{0}, {.header = bytes_of("last words")}) == post::down) return false;
    const auto until =
        base::machine_now_ns() + second_ns / 5;  // a socket needs some reaping to send
    live_until(s, [&] { return base::machine_now_ns() > until; });
    _exit(7);  // without closing the driver
  });
  ASSERT_NE(both.push({.header = bytes_of("begin")}), post::down);
  const auto settled =
      base::machine_now_ns() + second_ns / 10;  // a connection needs both ends at first
  live_until(*both.me,
             [&] { return base::machine_now_ns() > settled || !both.me->received.empty(); });
  EXPECT_EQ(both.end_of_child(), 7);
  ASSERT_TRUE(live_until(*both.me, [&] { return !both.me->lost.empty(); }));
  EXPECT_EQ(both.me->received.size(), 10u);
}

TEST_P(contract_processes, posted_packets_to_a_killed_peer_fail_before_it_is_lost) {
  two_processes both(GetParam(), [](station&) {
    pause();  // reaps nothing
    return true;
  });
  const std::vector<std::byte> payload(64'000'000);
  const ticket unknown{.id = std::uint64_t{1} << 63, .bytes = payload.size()};  // notified
  const post said = both.put({.exposed = unknown}, payload, 11);
  ASSERT_EQ(said, post::posted) << "64 MB cannot be taken before they are read";
  both.kill_child();
  both.end_of_child();
  ASSERT_TRUE(live_until(*both.me, [&] { return !both.me->lost.empty(); }));
  EXPECT_EQ(both.me->failed, std::vector<std::uint64_t>{11});
  EXPECT_TRUE(both.me->sent.empty());
}

TEST_P(contract_processes, a_sleeper_is_woken_by_another_process) {
  two_processes both(GetParam(), [](station& s) {
    for (int i = 0; i < 20; ++i) {
      usleep(5000);
      const auto said = send_soon(*s, peer_id{0}, {.header = bytes_of("ding")});
      if (said == post::down) return false;
      if (!live_until(s, [&] { return s.received.size() > static_cast<std::size_t>(i); }))
        return false;
    }
    return true;
  });
  station& me = *both.me;
  if (!me->query().wakes) GTEST_SKIP() << "this rail does not wake anybody";
  for (std::size_t i = 0; i < 20; ++i) {
    while (me.received.size() == i) {
      if (me.step() > 0) continue;
      if (me->arm(true)) {
        ASSERT_TRUE(readable(me->descriptor(), 5000)) << "slept for ever in round " << i;
      }
      EXPECT_TRUE(me->arm(false));
    }
    ASSERT_NE(both.push({.header = bytes_of("dong")}), post::down);
  }
  EXPECT_TRUE(live_until(me, [&] {
    me->tick(base::machine_now_ns());
    return me->send(peer_id{1}, {.header = bytes_of("are you there")}) == post::down;
  })) << "it ended well, so it is down in the end";
  EXPECT_EQ(both.end_of_child(), 0);
}

std::vector<kind> kinds_that_reach_processes() {
  auto some = kinds();
  std::erase_if(some, [](const kind& k) { return !k.reaches_processes; });
  return some;
}

INSTANTIATE_TEST_SUITE_P(rails, contract_processes,
                         ::testing::ValuesIn(kinds_that_reach_processes()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace headway::rails::testing
