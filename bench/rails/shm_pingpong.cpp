// One-way time between two processes over a bare rail, without the layers above: the lower bound
// for these. Prints the least and the median of batches, because others use the machine too.
//   shm_pingpong [processor processor]
#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "base/clock.hpp"
#include "rails/shm/shm_driver.hpp"

namespace {

using namespace headway;
using rails::event;
using rails::event_kind;
using rails::peer_id;
using rails::post;

constexpr int batches = 41;

struct end_point {
  rails::shm::shm_driver driver;
  peer_id other;

  std::size_t landed = 0;
  int received = 0;
  int sent = 0;
  rails::ticket shown = {};  // what the last packet began with

  void step() {
    std::array<event, 16> events;
    const std::size_t count = driver.reap(events);
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].kind == event_kind::received) {
        ++received;
        std::memcpy(&shown, events[i].bytes.data(), std::min(events[i].bytes.size(), sizeof shown));
        driver.release(events[i]);
      } else if (events[i].kind == event_kind::landed) {
        landed += events[i].count;
      } else if (events[i].kind == event_kind::sent) {
        ++sent;
      } else {
        std::_Exit(1);
      }
    }
  }
  post push(const rails::packet& p) {
    post said;
    while ((said = driver.send(other, p)) == post::retry) step();
    if (said == post::down) std::_Exit(1);
    return said;
  }
  post put(const rails::ticket& to, std::span<const std::byte> from) {
    post said;
    while ((said = driver.memory()->put(other, {.exposed = to}, from, 0)) == post::retry) step();
    if (said == post::down) std::_Exit(1);
    return said;
  }
  void await_packet() {
    while (received == 0) step();
    --received;
  }
};

void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Runs `round` on both ends in batches; the first end prints.
void measure(bool first, const char* what, std::size_t bytes, int rounds,
             const std::function<void()>& round) {
  std::vector<double> one_way;
  for (int b = 0; b < batches; ++b) {
    const auto begin = base::machine_now_ns();
    for (int i = 0; i < rounds; ++i) round();
    one_way.push_back(static_cast<double>(base::machine_now_ns() - begin) / rounds / 2);
  }
  std::ranges::sort(one_way);
  if (first)
    fmt::print("{:8} {:9} bytes  least {:9.1f} ns  median {:9.1f} ns  {:6.2f} GB/s\n", what, bytes,
               one_way.front(), one_way[batches / 2],
               static_cast<double>(bytes) / one_way[batches / 2]);
}

void small_messages(end_point& e, bool first, std::size_t bytes) {
  const std::vector<std::byte> header(32), payload(bytes);
  const auto round = [&] {
    if (!first) e.await_packet();
    e.push({.header = header, .payload = payload});
    if (first) e.await_packet();
  };
  measure(first, "packet", bytes, bytes > 4096 ? 500 : 5000, round);
}

/// How fast one end can hand over small messages, the other taking them as they come.
void stream(end_point& e, bool first, std::size_t bytes) {
  constexpr int burst = 20000;
  const std::vector<std::byte> header(32), payload(bytes);
  const auto round = [&] {
    if (first) {
      for (int i = 0; i < burst; ++i) e.push({.header = header, .payload = payload});
      e.await_packet();
    } else {
      while (e.received < burst) e.step();
      e.received -= burst;
      e.push({.header = header});
    }
  };
  const auto begin = base::machine_now_ns();
  for (int i = 0; i < 10; ++i) round();
  if (first)
    fmt::print("stream   {:9} bytes  {:.1f} ns a message\n", bytes,
               static_cast<double>(base::machine_now_ns() - begin) / 10 / burst);
}

void large_messages(end_point& e, bool first, std::size_t bytes) {
  std::vector<std::byte> payload(bytes, std::byte{1}), target(bytes);
  const auto mine = e.driver.memory()->expose({.bytes = target}).value();
  const auto await = [&] {
    while (e.landed < bytes || e.sent < 0) e.step();
    e.landed -= bytes;
  };
  e.push({.header = std::as_bytes(std::span(&mine, 1))});
  e.await_packet();
  const auto theirs = e.shown;
  const auto send = [&] {
    if (e.put(theirs, payload) == post::posted) --e.sent;
  };
  const auto round = [&] {
    if (!first) await();
    send();
    if (first) await();
  };
  measure(first, "landing", bytes, bytes > 1'000'000 ? 10 : 50, round);
  while (e.sent < 0) e.step();
  e.push({.header = std::span(payload).first(8)});
  e.await_packet();
  e.driver.memory()->withdraw(mine);
}

void run(std::uint32_t rank, int line, int processor) {
  pin(processor);
  processes::table known;
  for (std::uint32_t r = 0; r < 2; ++r) known.add({.job = 1, .rank = r});
  end_point e{.driver = rails::shm::shm_driver({.known = &known,
                                                .me = peer_id{rank},
                                                .job_name = fmt::format("bench-{}", getpgid(0)),
                                                .size = 2}),
              .other = peer_id{1 - rank}};
  const auto mine = e.driver.open();
  std::vector<std::byte> theirs(4096);
  if (!mine || write(line, mine->data(), mine->size()) < 0) std::_Exit(1);
  const auto got = read(line, theirs.data(), theirs.size());
  theirs.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (!e.driver.connect(e.other, theirs)) std::_Exit(1);
  for (const std::size_t bytes : {8u, 24u, 64u, 256u, 1024u, 4096u, 8192u, 16384u})
    small_messages(e, rank == 0, bytes);
  stream(e, rank == 0, 8);
  for (const std::size_t bytes : {4u << 10, 16u << 10, 64u << 10, 512u << 10, 4u << 20, 16u << 20})
    large_messages(e, rank == 0, bytes);
  e.driver.close();
}

}  // namespace

int main(int argc, char** argv) {
  int line[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, line) != 0) return 1;
  setpgid(0, 0);
  const int first = argc > 2 ? std::atoi(argv[1]) : 0, second = argc > 2 ? std::atoi(argv[2]) : 1;
  const pid_t child = fork();
  if (child == 0) {
    run(1, line[1], second);
    return 0;
  }
  run(0, line[0], first);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
