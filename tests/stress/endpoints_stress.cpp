// Goal:   end-points of two processes under every race that a program can make: opening and closing
//         during sends to them, all ways of sending, credits that run out, handlers, waits on many,
//         a process's death. No message is lost or arrives twice, all memory is released.
// Method: two services in one process over a network in memory that answers `retry`, posts and
//         delivers late on a seed (tests/simulation); a thread polls for each.
// Seed:   1; the interleavings are the machine's.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/fence.hpp"
#include "endpoints/service.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/driver.hpp"
#include "topology/machine.hpp"

namespace {

using namespace headway;
using endpoints::address;
using endpoints::outcome;
using endpoints::service;

// Two simulated processes map one memory at two addresses, which ThreadSanitizer cannot relate.
#ifdef HEADWAY_UNDER_TSAN
constexpr bool may_share = false;
#else
constexpr bool may_share = true;
#endif

class world {
 public:
  explicit world(bool share, std::uint32_t count = 2, bool pack_always = false)
      : net_(count, {{.latency_ns = 1'000, .jitter_ns = 1'000}}, {.retry_one_in = 4}, 1,
             simulation::time_source::machine) {
    machine_ = topology::machine::read().value();
    for (std::uint32_t i = 0; i < count; ++i)
      known_.add({.job = simulation::network::job, .rank = i});
    for (std::uint32_t i = 0; i < count; ++i) {
      auto p = std::make_unique<process>();
      p->engine = progress::engine::start(*machine_, {.points = progress::polling::off}).value();
      p->peers = std::make_unique<packets::peers>(*p->engine, static_cast<rails::peer_id>(i),
                                                  routes_, packets::settings{.processes = count});
      p->peers->add_rail(
          std::make_unique<simulation::driver>(net_, 0, i, known_, static_cast<rails::peer_id>(i)));
      for (std::uint32_t j = 0; j < count; ++j)
        EXPECT_TRUE(p->peers->use(static_cast<rails::peer_id>(j)));
      p->own =
          std::make_unique<service>(*p->peers, *p->engine,
                                    endpoints::service_options{.process = i,
                                                               .job = 5,
                                                               .nodes = std::vector<int>(count, 0),
                                                               .share = share && may_share},
                                    endpoints::settings{.pack_always = pack_always});
      p->exchange = std::make_unique<messages::exchange>(*p->peers, *p->engine);
      p->own->attach(*p->exchange);
      all_.push_back(std::move(p));
    }
    for (auto& p : all_)
      pollers_.emplace_back([this, engine = p->engine.get()] {
        while (!over_.load(std::memory_order_relaxed)) {  // the join carries everything else
          engine->poll();
          std::this_thread::yield();
        }
      });
  }
  ~world() {
    for (auto& p : all_) p->own->stop();
    over_.store(true, std::memory_order_relaxed);
    for (auto& t : pollers_) t.join();
    for (auto& p : all_) {
      p->exchange.reset();
      p->peers.reset();
      p->own.reset();
    }
  }
  service& at(std::uint32_t i) { return *all_[i]->own; }
  void kill(std::uint32_t i) { net_.kill(i, 0); }

 private:
  struct process {
    std::unique_ptr<progress::engine> engine;
    std::unique_ptr<packets::peers> peers;
    std::unique_ptr<endpoints::service> own;
    std::unique_ptr<messages::exchange> exchange;
  };
  processes::table known_;
  simulation::network net_;
  packets::testing::reaches_all routes_;
  std::unique_ptr<topology::machine> machine_;
  std::vector<std::unique_ptr<process>> all_;
  std::vector<std::thread> pollers_;
  std::atomic<bool> over_{false};
};

std::uint64_t in_seconds(unsigned s) { return base::machine_now_ns() + s * 1'000'000'000ull; }

std::uint32_t open(service& s, const std::string& name) {
  std::uint32_t id = 0;
  EXPECT_EQ(s.open(name, in_seconds(30), id), outcome::ok) << name;
  return id;
}

address look_up(service& s, const std::string& name) {
  address who;
  EXPECT_EQ(s.lookup(name, in_seconds(30), who), outcome::ok) << name;
  return who;
}

void* buffer(service& s, std::size_t bytes) {
  void* made = nullptr;
  EXPECT_EQ(s.request(bytes, &made), outcome::ok);
  return made;
}

/// Several senders in both processes to one receiver: each sender's messages in order, whole.
void stream(bool share, bool pack_always = false) {
  world w(share, 2, pack_always);
  constexpr unsigned senders = 2, each = 400;
  constexpr std::size_t sizes[] = {8, 900, 3'000, 70'000};
  const auto to_id = open(w.at(0), "sink");
  std::vector<std::thread> threads;
  for (unsigned s = 0; s < 2 * senders; ++s)
    threads.emplace_back([&, s] {
      auto& mine = w.at(s % 2);
      const auto to = look_up(mine, "sink");
      const auto from = open(mine, "sender/" + std::to_string(s));
      for (unsigned i = 0; i < each; ++i) {
        const auto bytes = sizes[i % 4];
        auto* data = static_cast<std::uint32_t*>(buffer(mine, bytes));
        data[0] = i;
        data[bytes / 4 - 1] = i;
        const bool keep = i % 8 == 3;
        ASSERT_EQ(mine.send({.to = to,
                             .tag = static_cast<std::int32_t>(s),
                             .from = from,
                             .data = data,
                             .bytes = bytes,
                             .keep = keep},
                            in_seconds(30)),
                  outcome::ok);
        if (keep) {
          ASSERT_EQ(mine.release_later(data), outcome::ok);
        }
      }
      EXPECT_EQ(mine.close(from), outcome::ok);
    });
  unsigned next[2 * senders] = {};
  for (unsigned i = 0; i < 2 * senders * each; ++i) {
    endpoints::message got;
    ASSERT_EQ(w.at(0).receive(to_id, {}, in_seconds(30), got), outcome::ok);
    const auto* data = static_cast<const std::uint32_t*>(got.data);
    const unsigned number = next[got.tag]++;
    ASSERT_EQ(got.bytes, sizes[number % 4]);
    ASSERT_EQ(data[0], number);
    ASSERT_EQ(data[got.bytes / 4 - 1], number);
    ASSERT_EQ(w.at(0).release(got.data), outcome::ok);
  }
  for (auto& t : threads) t.join();
}

TEST(endpoints_stress, streams_from_two_processes_arrive_whole_and_in_order_in_place) {
  stream(true);
}
TEST(endpoints_stress, streams_from_two_processes_arrive_whole_and_in_order_as_bytes) {
  stream(false);
}

TEST(endpoints_stress, streams_from_two_processes_arrive_whole_and_in_order_packed) {
  stream(false, true);
}

/// Several threads of a process pack into the same packets, and others' rounds send them.
TEST(endpoints_stress, small_messages_of_several_threads_arrive_in_order_of_each) {
  world w(false, 2, true);
  constexpr unsigned senders = 3, each = 3'000;
  std::vector<std::uint32_t> ids;
  for (unsigned s = 0; s < senders; ++s) ids.push_back(open(w.at(1), "sink/" + std::to_string(s)));
  std::vector<std::thread> threads;
  for (unsigned s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      const auto to = look_up(w.at(0), "sink/" + std::to_string(s));
      for (unsigned i = 0; i < each; ++i) {
        auto* data = static_cast<std::uint32_t*>(buffer(w.at(0), 16));
        data[0] = i;
        ASSERT_EQ(w.at(0).send({.to = to, .tag = 1, .data = data, .bytes = 16}, in_seconds(30)),
                  outcome::ok);
      }
    });
  for (unsigned s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      for (unsigned i = 0; i < each; ++i) {
        endpoints::message got;
        ASSERT_EQ(w.at(1).receive(ids[s], {}, in_seconds(30), got), outcome::ok);
        ASSERT_EQ(*static_cast<std::uint32_t*>(got.data), i);
        ASSERT_EQ(w.at(1).release(got.data), outcome::ok);
      }
    });
  for (auto& t : threads) t.join();
}

/// As many threads of one process to one end-point there, and as many that receive there.
TEST(endpoints_stress, threads_of_a_process_hand_over_every_message_once) {
  world w(true);
  constexpr unsigned sides = 2, each = 20'000;
  const auto id = open(w.at(0), "shared");
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> threads;
  for (unsigned s = 0; s < sides; ++s)
    threads.emplace_back([&, s] {
      for (unsigned i = 0; i < each; ++i) {
        auto* data = static_cast<std::uint32_t*>(buffer(w.at(0), 64));
        data[0] = i;
        ASSERT_EQ(
            w.at(0).send(
                {.to = {0, id}, .tag = static_cast<std::int32_t>(s), .data = data, .bytes = 64},
                in_seconds(30)),
            outcome::ok);
      }
    });
  for (unsigned s = 0; s < sides; ++s)
    threads.emplace_back([&, s] {
      for (unsigned i = 0; i < each; ++i) {
        endpoints::message got;
        const endpoints::filter wanted{.from = {}, .tag = static_cast<std::int32_t>(s)};
        ASSERT_EQ(w.at(0).receive(id, wanted, in_seconds(30), got), outcome::ok);
        ASSERT_EQ(*static_cast<std::uint32_t*>(got.data), i);
        sum.fetch_add(i, std::memory_order_relaxed);  // the join carries it
        ASSERT_EQ(w.at(0).release(got.data), outcome::ok);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(sum.load(), std::uint64_t{sides} * each * (each - 1) / 2);
}

TEST(endpoints_stress, end_points_open_and_close_during_sends_to_them) {
  world w(true);
  std::atomic<unsigned> open_now{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      auto& mine = w.at(t);
      for (unsigned i = 0; i < 300; ++i) {
        const auto id = open(mine, "brief/" + std::to_string(t));
        open_now.fetch_add(1, std::memory_order_relaxed);  // a number
        endpoints::message got;
        const auto how = mine.receive(id, {}, base::machine_now_ns() + 200'000, got);
        if (how == outcome::ok) {
          EXPECT_EQ(mine.release(got.data), outcome::ok);
        }
        EXPECT_EQ(mine.close(id), outcome::ok);
      }
      over.store(true, std::memory_order_relaxed);  // enough
    });
  for (unsigned t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      auto& mine = w.at(t);
      while (!over.load(std::memory_order_relaxed)) {  // enough
        address to;
        if (mine.lookup("brief/" + std::to_string(1 - t), endpoints::no_wait, to) != outcome::ok)
          continue;
        void* data = buffer(mine, 2'000);
        const auto how =
            mine.send({.to = to, .tag = 1, .data = data, .bytes = 2'000}, in_seconds(30));
        if (how != outcome::ok) {
          EXPECT_EQ(how, outcome::gone);
          EXPECT_EQ(mine.release(data), outcome::ok);
        }
      }
    });
  for (auto& t : threads) t.join();
}

TEST(endpoints_stress, handlers_and_waits_on_many_see_every_message_once) {
  world w(true);
  auto& here = w.at(0);
  auto& there = w.at(1);
  constexpr unsigned each = 500;
  std::atomic<unsigned> handled{0};
  const auto served = open(here, "served");
  struct counter {
    std::atomic<unsigned>& count;
    service& at;
  } counting{handled, here};
  const endpoints::handler by{
      .call =
          [](const endpoints::handler& self, const endpoints::message& got) {
            auto& c = *static_cast<counter*>(self.argument);
            EXPECT_EQ(c.at.release(got.data), outcome::ok);
            c.count.fetch_add(1, std::memory_order_release);  // the test's loop acquires it
          },
      .argument = &counting};
  ASSERT_EQ(here.handle(served, by), outcome::ok);
  const std::vector<std::uint32_t> many = {open(here, "m/0"), open(here, "m/1"), open(here, "m/2")};
  std::thread sender([&] {
    for (unsigned i = 0; i < each; ++i)
      for (const auto& name : {std::string("served"), "m/" + std::to_string(i % 3)}) {
        void* data = buffer(there, 100);
        ASSERT_EQ(there.send({.to = look_up(there, name), .tag = 1, .data = data, .bytes = 100},
                             in_seconds(30)),
                  outcome::ok);
      }
  });
  for (unsigned i = 0; i < each; ++i) {
    std::size_t which = 0;
    endpoints::message got;
    ASSERT_EQ(here.wait_any(many, in_seconds(30), which), outcome::ok);
    ASSERT_EQ(here.receive(many[which], {}, endpoints::no_wait, got), outcome::ok);
    ASSERT_EQ(here.release(got.data), outcome::ok);
  }
  sender.join();
  const auto limit = in_seconds(30);
  while (handled.load(std::memory_order_acquire) < each && base::machine_now_ns() < limit)
    std::this_thread::yield();
  EXPECT_EQ(handled.load(std::memory_order_acquire), each);
}

/// The policy changes, and with it the thread that polls for messages.
TEST(endpoints_stress, policies_change_while_messages_are_sent) {
  world w(true);
  const auto here = open(w.at(0), "here"), there = open(w.at(1), "there");
  std::atomic<bool> over{false};
  std::thread chooser([&] {
    for (int how = 0; !over.load(std::memory_order_relaxed); how = (how + 1) % 5) {  // enough
      w.at(0).set_dispatch(how);
      w.at(1).set_dispatch((how + 2) % 5);
      std::this_thread::yield();
    }
  });
  void* ball = buffer(w.at(0), 100);
  for (unsigned i = 0; i < 2'000; ++i) {
    const bool back = i % 2 != 0;
    const address to{back ? 0u : 1u, back ? here : there};
    ASSERT_EQ(w.at(back).send({.to = to, .tag = 1, .data = ball, .bytes = 100}, in_seconds(30)),
              outcome::ok);
    endpoints::message got;
    ASSERT_EQ(w.at(!back).receive(to.id, {}, in_seconds(30), got), outcome::ok);
    ball = got.data;
  }
  EXPECT_EQ(w.at(0).release(ball), outcome::ok);
  over.store(true, std::memory_order_relaxed);  // enough
  chooser.join();
}

void die(bool share, bool pack_always, std::size_t bytes) {
  world w(share, 3, pack_always);
  const auto id = open(w.at(1), "victim");
  std::vector<std::thread> threads;
  std::atomic<unsigned> under_way{0};
  for (const std::uint32_t t : {0u, 2u, 0u})
    threads.emplace_back([&, t, to = look_up(w.at(t), "victim")] {
      auto& mine = w.at(t);
      auto how = outcome::ok;
      while (how == outcome::ok) {
        void* data = buffer(mine, bytes);
        how = mine.send({.to = to, .tag = 1, .data = data, .bytes = bytes}, in_seconds(30));
        if (how != outcome::ok) {
          EXPECT_EQ(mine.release(data), outcome::ok);
        }
        under_way.fetch_add(1, std::memory_order_relaxed);  // a number
      }
      EXPECT_EQ(how, outcome::gone);
    });
  while (under_way.load(std::memory_order_relaxed) < 100) {
    endpoints::message got;
    if (w.at(1).receive(id, {}, endpoints::no_wait, got) == outcome::ok) {
      EXPECT_EQ(w.at(1).release(got.data), outcome::ok);
    }
    std::this_thread::yield();
  }
  w.kill(1);
  for (auto& t : threads) t.join();
}

TEST(endpoints_stress, senders_to_a_process_that_dies_get_an_error) { die(true, false, 900); }
TEST(endpoints_stress, senders_of_packed_messages_to_a_process_that_dies_get_an_error) {
  die(true, true, 900);
}
TEST(endpoints_stress, senders_of_large_messages_to_a_process_that_dies_get_an_error) {
  die(false, false, 70'000);
}

/// Zones are opened by threads that wait, used and closed by threads that poll, until the processes
/// leave.
TEST(endpoints_stress, large_messages_go_back_and_forth_between_threads_of_two_processes) {
  world w(false, 2);
  constexpr unsigned pairs = 2, each = 300;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2 * pairs; ++t)
    threads.emplace_back([&, t] {
      const bool begins = t % 2 == 0;
      auto& mine = w.at(t % 2);
      const auto name = [&](unsigned side) {
        return "ball/" + std::to_string(t / 2) + "/" + std::to_string(side);
      };
      const auto at = open(mine, name(t % 2));
      const auto to = look_up(mine, name(1 - t % 2));
      for (unsigned i = 0; i < each; ++i) {
        const std::size_t bytes = i % 50 < 25 ? 70'000 : 300'000;
        if (begins) {
          auto* data = static_cast<std::uint32_t*>(buffer(mine, bytes));
          data[0] = data[bytes / 4 - 1] = i;
          ASSERT_EQ(mine.send({.to = to, .tag = 1, .data = data, .bytes = bytes}, in_seconds(30)),
                    outcome::ok);
        }
        endpoints::message got;
        ASSERT_EQ(mine.receive(at, {}, in_seconds(30), got), outcome::ok);
        const auto* data = static_cast<const std::uint32_t*>(got.data);
        ASSERT_EQ(got.bytes, bytes);
        ASSERT_EQ(data[0], i);
        ASSERT_EQ(data[bytes / 4 - 1], i);
        const auto how = begins ? mine.release(got.data)
                                : mine.send({.to = to, .tag = 1, .data = got.data, .bytes = bytes},
                                            in_seconds(30));
        ASSERT_EQ(how, outcome::ok);
      }
    });
  for (auto& t : threads) t.join();
}

}  // namespace
