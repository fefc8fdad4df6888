#include "packets/peers.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "packets/peer_table.hpp"
#include "tests/reaches_all.hpp"
#include "tests/silent_driver.hpp"
#include "topology/machine.hpp"
#include "traffic.hpp"

namespace headway::packets::testing::peers_tests {
namespace {

struct ignoring final : receiver {
  void arrived(peer&, std::span<const std::byte>) noexcept override {}
  void lost(peer&) noexcept override { ++losses; }
  int losses = 0;
};

class sink final : public rails::testing::silent_driver {
 public:
  rails::limits query() const noexcept override {
    return {.name = "sink", .header_bytes_max = 64, .eager_bytes_max = 4096};
  }
  rails::post send(rails::peer_id, const rails::packet&) noexcept override {
    return rails::post::done;
  }
};

/// A rail that does what the test says.
class scripted final : public rails::testing::silent_driver, public rails::health {
 public:
  explicit scripted(const char* name, bool can_be_cut) : name_(name), can_be_cut_(can_be_cut) {}
  ~scripted() override { close(); }
  rails::limits query() const noexcept override {
    return {.name = name_, .header_bytes_max = 64, .eager_bytes_max = 4096};
  }
  base::result<> connect(rails::peer_id, std::span<const std::byte>) override {
    if (!refuses) return {};
    return base::failed(base::fault_kind::system, "open: Too many open files");
  }
  base::result<> admit(rails::peer_id, std::span<const std::byte>) override {
    ++admitted;
    return {};
  }
  rails::post send(rails::peer_id, const rails::packet&) noexcept override {
    ++sent;
    return rails::post::done;
  }
  rails::post put(rails::peer_id, const rails::remote_place&, std::span<const std::byte>,
                  std::uint64_t) noexcept override {
    ++puts;
    return rails::post::done;
  }
  std::size_t reap(std::span<rails::event> out) noexcept override {
    ++reaps;
    if (!calls || out.empty()) return 0;
    out[0] = {.kind = rails::event_kind::called, .peer = *calls};
    calls.reset();
    return 1;
  }
  int descriptor() const noexcept override { return rings_; }
  rails::health* health() noexcept override { return can_be_cut_ ? this : nullptr; }
  void sever(rails::peer_id) noexcept override {}
  void revive(rails::peer_id) noexcept override {}
  std::uint64_t last_activity_ns(rails::peer_id) noexcept override { return 0; }
  /// `from` sends something.
  void call(rails::peer_id from) {
    calls = from;
    if (rings_ < 0) rings_ = eventfd(1, EFD_CLOEXEC);
  }
  void close() noexcept override {
    if (rings_ >= 0) ::close(std::exchange(rings_, -1));
  }

  bool refuses = false;
  std::optional<rails::peer_id> calls;
  int admitted = 0, sent = 0, puts = 0, reaps = 0;

 private:
  const char* const name_;
  const bool can_be_cut_;
  int rings_ = -1;
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
  explicit fixture(router& routes) : all{*engine, rails::peer_id{0}, routes} {
    all.add_rail(std::make_unique<sink>());
    all.start(above);
  }
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  ignoring above;
  peers all;
};

TEST(peers, look_up_the_rails_of_a_peer_once_and_on_its_first_use) {
  reaches_all routes;
  fixture f(routes);
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

/// A process with a near rail, which cannot be cut, and a far one.
struct two_rails {
  two_rails() : all{*engine, rails::peer_id{0}, routes} {
    auto first = std::make_unique<scripted>("near", false);
    auto second = std::make_unique<scripted>("far", true);
    near = first.get();
    far = second.get();
    all.add_rail(std::move(first), rail_use::from_start);
    all.add_rail(std::move(second));
    all.start(above);
  }
  /// Polls, with ticks, until the condition holds; false: it does not within some seconds.
  template <class Condition>
  [[nodiscard]] bool run_until(Condition&& holds) {
    const auto until_ns = base::machine_now_ns() + 10'000'000'000u;
    engine->pending_started();
    while (!holds() && base::machine_now_ns() < until_ns) engine->poll_everywhere();
    engine->pending_ended();
    return holds();
  }
  [[nodiscard]] static bool send(peer& to) {
    send_item item;
    item.sent = [](send_item&, bool) noexcept {};
    item.head_bytes = sizeof(stream_head);
    const stream_head head;
    std::memcpy(item.head.data(), &head, sizeof head);
    return to.post(item) == posted::done;
  }

  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  reaches_all routes{2};
  scripted* near = nullptr;
  scripted* far = nullptr;
  ignoring above;
  peers all;
};

TEST(peers, whose_near_rail_is_refused_for_lack_of_something_are_sent_to_over_the_next) {
  two_rails f;
  f.near->refuses = true;
  peer& other = f.all.at(rails::peer_id{1});
  ASSERT_FALSE(other.lost());
  EXPECT_TRUE(two_rails::send(other));
  EXPECT_EQ(f.near->sent, 0);
  EXPECT_EQ(f.far->sent, 1);
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
  f.near->call(other.id());
  ASSERT_TRUE(f.run_until([&] { return f.near->admitted == 1; }));
  EXPECT_TRUE(two_rails::send(other));
  EXPECT_EQ(f.far->sent, 1) << "sent over the rail that it was reached over";
}

TEST(peers, that_call_over_a_rail_which_is_not_at_work_are_received_and_get_large_messages_there) {
  two_rails f;
  peer& other = f.all.at(rails::peer_id{1});
  EXPECT_TRUE(two_rails::send(other));
  ASSERT_TRUE(f.run_until([&] { return f.near->reaps > 0; }));
  EXPECT_EQ(f.far->reaps, 0);
  f.far->call(other.id());
  ASSERT_TRUE(f.run_until([&] { return f.far->admitted == 1; }));
  EXPECT_TRUE(two_rails::send(other));
  EXPECT_EQ(f.near->sent, 2);
  std::vector<std::byte> bytes(100);
  transfer message;
  message.memory = bytes;
  static bool ended;
  ended = false;
  message.ended = [](transfer&, bool well) noexcept { ended = well; };
  const rails::ticket there{.id = 1, .bytes = bytes.size()};
  f.all.rendezvous().put(other, message, {.number = 1, .target = there});
  EXPECT_TRUE(ended);
  EXPECT_EQ(f.far->puts, 1);
  EXPECT_EQ(f.near->puts, 0);
}

TEST(peers, are_made_once_by_threads_that_use_them_at_the_same_time) {
  constexpr std::uint32_t count = 300;
  reaches_all routes;
  fixture f(routes);
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
