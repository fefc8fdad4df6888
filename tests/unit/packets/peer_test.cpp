#include "packets/peer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/silent_driver.hpp"
#include "topology/machine.hpp"

namespace headway::packets::peer_tests {
namespace {

constexpr rails::peer_id other{1};

/// A rail that accepts everything while `open`, and reports a loss when the test says so. If it
/// `posts`, it keeps its packets and reports only after its `close` how each ended: the first well.
class gate final : public rails::testing::silent_driver {
 public:
  explicit gate(std::atomic<bool>& opened, std::atomic<bool>& lost, bool posts)
      : open_(opened), lost_(lost), posts_(posts) {}
  rails::limits query() const noexcept override {
    return {.name = "gate", .header_bytes_max = 64, .eager_bytes_max = 4096};
  }
  rails::post send(rails::peer_id, const rails::packet& what) noexcept override {
    if (!open_.load(std::memory_order_acquire)) return rails::post::retry;
    if (!posts_) return rails::post::done;
    kept_.push_back(what.cookie);
    return rails::post::posted;
  }
  std::size_t reap(std::span<rails::event> out) noexcept override {
    if (closed_ && !kept_.empty()) {
      const auto how = failed_ ? rails::event_kind::failed : rails::event_kind::sent;
      out[0] = {.kind = how, .peer = other, .cookie = kept_.front()};
      kept_.pop_front();
      failed_ = true;
      return 1;
    }
    if (!lost_.exchange(false, std::memory_order_acq_rel)) return 0;
    out[0] = {.kind = rails::event_kind::lost, .peer = other};
    return 1;
  }
  void close() noexcept override { closed_ = true; }

 private:
  std::atomic<bool>& open_;
  std::atomic<bool>& lost_;
  const bool posts_;
  std::deque<std::uint64_t> kept_;
  bool closed_ = false;
  bool failed_ = false;
};

struct deaf final : receiver {
  void arrived(peer&, std::span<const std::byte>) noexcept override {}
  void lost(peer&) noexcept override {
    untold_at_loss = untold.load(std::memory_order_relaxed);
    told.store(true, std::memory_order_release);
  }
  std::atomic<bool> told{false};
  std::atomic<int> untold{0};  // posted, and no end yet
  int untold_at_loss = 0;
};

struct packet_of final : send_item {
  packet_of() {
    head_bytes = sizeof(stream_head);
    head.fill(std::byte{0});
    head[offsetof(stream_head, kind)] = std::byte{1};
  }
  void (*then)(void* argument) noexcept = nullptr;
  void* argument = nullptr;
  deaf* above = nullptr;
  int ends = 0;
  bool well = false;
};

void told(send_item& item, bool well) noexcept {
  auto& p = static_cast<packet_of&>(item);
  ++p.ends;
  p.well = well;
  p.above->untold.fetch_sub(1, std::memory_order_relaxed);
  if (p.then) p.then(p.argument);
}

struct nest {
  std::atomic<bool> opened{false}, lost{false};
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  deaf above;
  testing::reaches_all routes;
  peers all{*engine, rails::peer_id{0}, routes};
  std::deque<packet_of> packets;

  explicit nest(bool posts = false) {
    all.add_rail(std::make_unique<gate>(opened, lost, posts));
    all.start(above);
  }
  packet_of& made() {
    auto& p = packets.emplace_back();
    p.sent = &told;
    p.above = &above;
    return p;
  }
  [[nodiscard]] posted post(packet_of& p) {
    above.untold.fetch_add(1, std::memory_order_relaxed);
    const auto said = all.at(1).post(p);
    if (said != posted::pending) above.untold.fetch_sub(1, std::memory_order_relaxed);
    return said;
  }
};

// A reaper sets the loss while another thread, inside `sent` and so under the peer's mask, posts:
// neither may wait for the other.
TEST(peer, a_post_from_inside_sent_does_not_wait_for_its_own_mask_when_the_peer_is_lost) {
  nest n;
  auto& first = n.made();
  first.argument = &n;
  first.then = [](void* argument) noexcept {
    auto& world = *static_cast<nest*>(argument);
    world.lost.store(true, std::memory_order_release);
    for (int i = 0; i < 10'000'000; ++i) {
      auto& nested = world.made();
      if (world.post(nested) == posted::down) return;
    }
  };
  ASSERT_EQ(n.post(first), posted::pending);  // the gate is shut: it waits
  std::atomic<bool> over{false};
  std::thread poster([&] {
    auto& second = n.made();
    n.opened.store(true, std::memory_order_release);
    static_cast<void>(n.post(second));  // sends `first` too, and reports it
    over.store(true, std::memory_order_release);
  });
  while (!n.opened.load(std::memory_order_acquire)) std::this_thread::yield();
  while (!over.load(std::memory_order_acquire) || !n.above.told.load(std::memory_order_acquire))
    n.engine->poll();
  poster.join();
  EXPECT_EQ(n.above.untold_at_loss, 0) << "all had their end before the loss was told";
  EXPECT_EQ(n.above.untold.load(), 0);
  for (const auto& p : n.packets) EXPECT_LE(p.ends, 1);
}

TEST(peer, what_waits_when_the_rails_stop_ends_once_and_not_well) {
  nest n;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(n.post(n.made()), posted::pending);  // the gate is shut
  n.all.stop();
  for (const auto& p : n.packets) {
    EXPECT_EQ(p.ends, 1);
    EXPECT_FALSE(p.well);
  }
  EXPECT_EQ(n.post(n.made()), posted::down);
  EXPECT_EQ(n.above.untold.load(), 0);
  EXPECT_FALSE(n.above.told.load()) << "stopping is no loss";
}

TEST(peer, what_a_rail_has_posted_when_it_stops_ends_as_the_rail_reports) {
  nest n(true);
  n.opened.store(true, std::memory_order_release);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(n.post(n.made()), posted::pending);
  n.opened.store(false, std::memory_order_release);
  ASSERT_EQ(n.post(n.made()), posted::pending);
  n.all.stop();
  for (const auto& p : n.packets) EXPECT_EQ(p.ends, 1);
  EXPECT_TRUE(n.packets[0].well);
  for (std::size_t i = 1; i < n.packets.size(); ++i) EXPECT_FALSE(n.packets[i].well);
  EXPECT_EQ(n.above.untold.load(), 0);
}

}  // namespace
}  // namespace headway::packets::peer_tests
