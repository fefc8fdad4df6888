#include "packets/peers.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "packets/peer_table.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"
#include "topology/machine.hpp"
#include "traffic.hpp"

namespace headway::packets::testing::peers_tests {
namespace {

struct counting final : receiver {
  void arrived(peer&, std::span<const std::byte>) noexcept override { ++packets; }
  void lost(peer&) noexcept override { ++losses; }
  int packets = 0;
  int losses = 0;
};

/// A rail that may be refused to connect, and has a descriptor if it is to `ring`.
class scripted final : public simulation::driver {
 public:
  using driver::driver;
  ~scripted() override { hang_up(); }
  base::result<> connect(rails::peer_id peer, std::span<const std::byte> address) override {
    if (!refuses) return driver::connect(peer, address);
    return base::failed(base::fault_kind::system, "open: Too many open files");
  }
  base::result<> admit(rails::peer_id peer, std::span<const std::byte> address) override {
    ++admitted;
    return driver::connect(peer, address);
  }
  std::size_t reap(std::span<rails::event> out) noexcept override {
    ++reaps;
    return driver::reap(out);
  }
  int descriptor() const noexcept override { return bell_; }
  void close() noexcept override {
    hang_up();
    driver::close();
  }
  /// Something has come.
  void ring() { bell_ = eventfd(1, EFD_CLOEXEC); }

  bool refuses = false;
  int admitted = 0, reaps = 0;

 private:
  void hang_up() noexcept {
    if (bell_ >= 0) ::close(std::exchange(bell_, -1));
  }
  int bell_ = -1;
};

struct router_that_fails final : router {
  base::result<> route(peers&, rails::peer_id) override {
    return base::failed(base::fault_kind::unsupported, "there is no way there");
  }
};

struct router_without_memory final : router {
  base::result<> route(peers&, rails::peer_id) override { throw std::bad_alloc(); }
};

struct fixture {
  explicit fixture(router& routes, std::uint32_t others = 1)
      : ends(others, {simulation::bare_ends::immediate}, simulation::time_source::machine),
        all{*engine, rails::peer_id{0}, routes} {
    all.add_rail(ends.make_rail());
    all.start(above);
  }
  simulation::bare_ends ends;
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  counting above;
  peers all;
};

TEST(peers, look_up_the_rails_of_a_peer_once_and_on_its_first_use) {
  reaches_all routes;
  fixture f(routes);
  // Process 1 of the network has that number.
  for (std::uint32_t rank = 0; f.ends.known.size() <= 70'000; ++rank)
    f.ends.known.add({.job = 8, .rank = rank});
  f.ends.net.name(1, f.ends.known.at(rails::peer_id{70'000}));
  EXPECT_EQ(routes.asked, 0);
  EXPECT_EQ(f.all.find(rails::peer_id{70'000}), nullptr);
  peer& first = f.all.at(rails::peer_id{70'000});
  EXPECT_EQ(routes.asked, 1);
  EXPECT_EQ(&f.all.at(rails::peer_id{70'000}), &first);
  EXPECT_EQ(f.all.find(rails::peer_id{70'000}), &first);
  EXPECT_EQ(routes.asked, 1);
  EXPECT_FALSE(first.lost());
  EXPECT_EQ(f.all.peers_on(0), 1);
  EXPECT_EQ(f.all.find(rails::peer_id{3}), nullptr);
}

TEST(peers, that_no_rail_reaches_are_lost_from_the_start) {
  router_that_fails routes;
  fixture f(routes);
  peer& unreached = f.all.at(rails::peer_id{1});
  EXPECT_TRUE(unreached.lost());
  send_item item;
  item.head_bytes = sizeof(stream_head);
  EXPECT_EQ(unreached.post(item), posted::down);
  EXPECT_EQ(f.above.losses, 0) << "nothing was under way with it";
}

TEST(peers, for_whose_rails_there_is_no_memory_are_lost) {
  router_without_memory routes;
  fixture f(routes);
  const auto done = f.all.use(rails::peer_id{1});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, base::fault_kind::no_memory);
  EXPECT_TRUE(f.all.at(rails::peer_id{1}).lost());
}

TEST(peers, are_not_connected_any_more_when_the_rails_have_stopped) {
  reaches_all routes;
  fixture f(routes);
  f.all.stop();
  EXPECT_TRUE(f.all.at(rails::peer_id{1}).lost());
  EXPECT_EQ(routes.asked, 0);
}

/// A process with a near rail, which cannot be cut, and a far one. Time passes in `run_until`.
struct two_rails {
  static constexpr std::uint32_t near_rail = 0, far_rail = 1;
  static constexpr stream_head head{.kind = 1};

  two_rails() {
    auto first = ends.make_rail<scripted>(near_rail);
    auto second = ends.make_rail<scripted>(far_rail);
    near = first.get();
    far = second.get();
    all.add_rail(std::move(first), rail_use::from_start);
    all.add_rail(std::move(second));
    all.start(above);
  }
  ~two_rails() {
    ends.net.run_out();
    all.stop();
  }
  /// Polls, with ticks, until the condition holds; false: it does not within some seconds, which
  /// are simulated.
  template <class Condition>
  [[nodiscard]] bool run_until(Condition&& holds) {
    constexpr int rounds_max = 1'000;
    engine->pending_started();
    for (int i = 0; i < rounds_max && !holds(); ++i) {
      ends.net.jump(10'000'000);
      engine->poll_everywhere();
    }
    engine->pending_ended();
    return holds();
  }
  /// The other process sends something over that rail.
  void call(std::uint32_t rail) { ends.send(1, std::as_bytes(std::span(&head, 1)), rail); }
  [[nodiscard]] std::size_t sent_over(std::uint32_t rail) { return ends.take(1, rail).size(); }
  [[nodiscard]] static bool send(peer& to) {
    send_item item;
    item.sent = [](send_item&, bool) noexcept {};
    item.head_bytes = sizeof(stream_head);
    std::memcpy(item.head.data(), &head, sizeof head);
    return to.post(item) == posted::done;
  }

  simulation::bare_ends ends{
      1, {simulation::bare_ends::immediate, simulation::bare_ends::immediate_but([](auto& plan) {
            plan.severable = true;
          })}};
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}, 1, ends.net.clock())
          .value();
  reaches_all routes{2};
  scripted* near = nullptr;
  scripted* far = nullptr;
  counting above;
  peers all{*engine, rails::peer_id{0}, routes};
};

TEST(peers, whose_near_rail_is_refused_for_lack_of_something_are_sent_to_over_the_next) {
  two_rails f;
  f.near->refuses = true;
  peer& other = f.all.at(rails::peer_id{1});
  ASSERT_FALSE(other.lost());
  EXPECT_TRUE(two_rails::send(other));
  EXPECT_EQ(f.sent_over(f.near_rail), 0u);
  EXPECT_EQ(f.sent_over(f.far_rail), 1u);
}

TEST(peers, that_only_a_refused_rail_reaches_are_lost_for_the_reason_of_that_rail) {
  two_rails f;
  f.near->refuses = true;
  f.routes.addresses[1].reset();
  const auto done = f.all.use(rails::peer_id{1});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "open: Too many open files");
}

TEST(peers, that_send_over_a_near_rail_which_was_refused_here_are_received) {
  two_rails f;
  f.near->refuses = true;
  peer& other = f.all.at(rails::peer_id{1});
  f.call(f.near_rail);
  ASSERT_TRUE(f.run_until([&] { return f.above.packets == 1; }));
  EXPECT_EQ(f.near->admitted, 1);
  EXPECT_TRUE(two_rails::send(other));
  EXPECT_EQ(f.sent_over(f.far_rail), 1u) << "sent over the rail that it was reached over";
}

TEST(peers, that_call_over_a_rail_which_is_not_at_work_are_received_and_get_large_messages_there) {
  two_rails f;
  peer& other = f.all.at(rails::peer_id{1});
  EXPECT_TRUE(two_rails::send(other));
  ASSERT_TRUE(f.run_until([&] { return f.near->reaps > 0; }));
  EXPECT_EQ(f.far->reaps, 0);
  f.call(f.far_rail);
  f.far->ring();
  ASSERT_TRUE(f.run_until([&] { return f.above.packets == 1; }));
  EXPECT_EQ(f.far->admitted, 1);
  EXPECT_TRUE(two_rails::send(other));
  EXPECT_EQ(f.sent_over(f.near_rail), 2u);
  std::vector<std::byte> bytes(100);
  transfer message;
  message.memory = bytes;
  static bool ended;
  ended = false;
  message.ended = [](transfer&, bool well) noexcept { ended = well; };
  const rails::ticket there{.id = 1, .bytes = bytes.size()};
  f.all.rendezvous().put(other, message, {.number = 1, .target = there});
  EXPECT_TRUE(ended);
  EXPECT_EQ(f.ends.net.put_bytes(f.far_rail), bytes.size());
  EXPECT_EQ(f.ends.net.put_bytes(f.near_rail), 0u);
}

TEST(peers, are_made_once_by_threads_that_use_them_at_the_same_time) {
  constexpr std::uint32_t count = 300;
  reaches_all routes;
  fixture f(routes, count);
  std::vector<peer*> seen[3];
  std::vector<std::thread> users;
  for (auto& mine : seen)
    users.emplace_back([&] {
      for (std::uint32_t i = 0; i < count; ++i) mine.push_back(&f.all.at(rails::peer_id{i}));
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(routes.asked, static_cast<int>(count));
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(peers, are_made_by_what_they_send) {
  simulation::job world({.processes = 4, .rails = 2});
  traffic there(world, 0, 1, 5);
  there.add(100);
  there.add(100'000);
  ASSERT_TRUE(world.run_until([&] { return there.done(); }));
  there.check();
  EXPECT_NE(world.peers(1).find(rails::peer_id{0}), nullptr);
  EXPECT_EQ(world.peers(0).find(rails::peer_id{2}), nullptr);
  EXPECT_EQ(world.peers(2).find(rails::peer_id{0}), nullptr);
}

}  // namespace
}  // namespace headway::packets::testing::peers_tests
