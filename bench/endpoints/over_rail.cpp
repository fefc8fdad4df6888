// E16: what an end-point costs over the bare rail, in one run of two processes: half a round trip
// over a shared-memory rail of the benchmark's own and over end-points, batch after batch in turns,
// so that both see the machine in the same state.
//
//   mpiexec -n 2 over_rail [--asleep] [--bytes N] [--rounds N] [--batches N] [--csv FILE]
//
// Awake: both sides spin (HEADWAY_WAIT=busy). --asleep: both sleep until a message arrives
// (HEADWAY_WAIT=block); the side of the bare rail sleeps on the rail's descriptor.
#include <fmt/format.h>
#include <headway/endpoint.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "rails/shm/shm_driver.hpp"

namespace {

using namespace headway;

constexpr int tag_data = 1, tag_setup = 2;
constexpr std::size_t head_bytes = 20;  // of a message between end-points

void check(bool well, const char* what) {
  if (well) return;
  fmt::print(stderr, "over_rail: {}: {}\n", what, headway_error_text());
  std::_Exit(1);
}

struct settings {
  bool asleep = false;
  std::size_t bytes = 8;
  int rounds = 0;
  int batches = 101;
  const char* csv = nullptr;
};

/// The other process by end-points.
struct by_end_points {
  headway_endpoint own = 0;
  headway_address other = {};
  std::size_t bytes = 0;

  void open(int me) {
    check(headway_endpoint_open(me == 0 ? "over/0" : "over/1", &own) == HEADWAY_OK, "open");
    check(headway_endpoint_lookup(me == 0 ? "over/1" : "over/0", HEADWAY_FOREVER, &other) ==
              HEADWAY_OK,
          "lookup");
  }
  void send() const {
    void* data = nullptr;
    check(headway_buffer_request(bytes, &data) == HEADWAY_OK, "request");
    std::memset(data, 1, bytes);
    check(headway_endpoint_send(own, other, tag_data, data, bytes, HEADWAY_FOREVER) == HEADWAY_OK,
          "send");
  }
  void receive() const {
    headway_message got;
    check(headway_endpoint_receive(own, tag_data, nullptr, HEADWAY_FOREVER, &got) == HEADWAY_OK,
          "receive");
    headway_buffer_release(got.data);
  }
  [[nodiscard]] std::string exchange(std::string_view text) const {
    headway_message got;
    check(headway_endpoint_send_copy(own, other, tag_setup, text.data(), text.size(),
                                     HEADWAY_FOREVER) == HEADWAY_OK,
          "send");
    check(headway_endpoint_receive(own, tag_setup, nullptr, HEADWAY_FOREVER, &got) == HEADWAY_OK,
          "receive");
    std::string said(static_cast<const char*>(got.data), got.bytes);
    headway_buffer_release(got.data);
    return said;
  }
};

/// The other process by the rail alone.
struct by_rail {
  rails::shm::shm_driver driver;
  rails::peer_id other;
  bool sleeps;
  std::vector<std::byte> header = std::vector<std::byte>(head_bytes);
  std::vector<std::byte> payload;
  int received = 0;

  void open(const by_end_points& way) {
    const auto mine = driver.open();
    check(mine.has_value(), "the rail does not open");
    const auto theirs = way.exchange({reinterpret_cast<const char*>(mine->data()), mine->size()});
    const auto bytes = std::as_bytes(std::span(theirs));
    check(driver.connect(other, bytes).has_value(), "the rail does not connect");
  }
  bool step() {
    std::array<rails::event, 16> events;
    const auto count = driver.reap(events);
    for (std::size_t i = 0; i < count; ++i) {
      check(events[i].kind == rails::event_kind::received, "an event of another kind");
      ++received;
      driver.release(events[i]);
    }
    return count != 0;
  }
  void send() {
    std::memset(payload.data(), 1, payload.size());
    rails::post said;
    while ((said = driver.send(other, {.header = header, .payload = payload})) ==
           rails::post::retry)
      step();
    check(said == rails::post::done, "the rail is down");
  }
  void receive() {
    while (received == 0) {
      if (step() || !sleeps) continue;
      if (driver.arm(true)) {
        pollfd bell{.fd = driver.descriptor(), .events = POLLIN, .revents = 0};
        (void)poll(&bell, 1, 1000);
      }
      (void)driver.arm(false);
    }
    --received;
  }
};

template <class Way>
double one_way_ns(Way& way, bool first, int rounds) {
  const auto round = [&] {
    if (first) way.send();
    way.receive();
    if (!first) way.send();
  };
  for (int i = 0; i < rounds / 8 + 1; ++i) round();
  const auto began = base::machine_now_ns();
  for (int i = 0; i < rounds; ++i) round();
  return static_cast<double>(base::machine_now_ns() - began) / rounds / 2;
}

double part(std::vector<double> all, double which) {
  std::ranges::sort(all);
  return all[static_cast<std::size_t>(which * static_cast<double>(all.size() - 1))];
}

void pin(int side) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(side % static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), &one);
  sched_setaffinity(0, sizeof one, &one);
}

settings read(int argc, char** argv) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--asleep") s.asleep = true;
    if (i + 1 == argc) break;
    if (word == "--bytes") s.bytes = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--rounds") s.rounds = std::atoi(argv[++i]);
    else if (word == "--batches") s.batches = std::atoi(argv[++i]);
    else if (word == "--csv") s.csv = argv[++i];
  }
  if (s.rounds == 0) s.rounds = s.asleep ? 50 : 1000;
  check(s.bytes > 0 && s.bytes <= 1024 && s.rounds > 0 && s.batches > 0, "arguments");
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  const settings s = read(argc, argv);
  setenv("HEADWAY_WAIT", s.asleep ? "block" : "busy", 1);
  check(headway_join() == HEADWAY_OK, "join");
  check(headway_process_count() == 2, "it takes two processes");
  const int me = headway_process();
  const bool first = me == 0;
  by_end_points points{.bytes = s.bytes};
  points.open(me);
  auto job = points.exchange(fmt::format("over-rail-{}", getpid()));
  if (first) job = fmt::format("over-rail-{}", getpid());
  processes::table known;
  for (std::uint32_t r = 0; r < 2; ++r) known.add({.job = 1, .rank = r});
  by_rail rail{
      .driver = rails::shm::shm_driver({.known = &known,
                                        .me = rails::peer_id{static_cast<std::uint32_t>(me)},
                                        .job_name = job,
                                        .size = 2}),
      .other = rails::peer_id{static_cast<std::uint32_t>(1 - me)},
      .sleeps = s.asleep,
      .payload = std::vector<std::byte>(s.bytes)};
  rail.open(points);
  pin(me);
  std::vector<double> bare, over, more;
  for (int b = 0; b < s.batches; ++b) {
    bare.push_back(one_way_ns(rail, first, s.rounds));
    over.push_back(one_way_ns(points, first, s.rounds));
    more.push_back(over.back() - bare.back());
  }
  rail.driver.close();
  if (!first) return 0;
  fmt::print(
      "{} bytes, {}: rail {:.0f} ns, end-point {:.0f} ns, over it {:.0f} ns (quarters {:.0f} … "
      "{:.0f})\n",
      s.bytes, s.asleep ? "asleep" : "awake", part(bare, 0.5), part(over, 0.5), part(more, 0.5),
      part(more, 0.25), part(more, 0.75));
  if (FILE* file = s.csv ? std::fopen(s.csv, "w") : nullptr) {
    fmt::print(file, "bytes,rail_ns,points_ns,over_ns\n{},{:.1f},{:.1f},{:.1f}\n", s.bytes,
               part(bare, 0.5), part(over, 0.5), part(more, 0.5));
    std::fclose(file);
  }
  return 0;
}
