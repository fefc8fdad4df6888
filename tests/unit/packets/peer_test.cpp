#include "packets/peer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "one_peer.hpp"

namespace headway::packets::peer_tests {
namespace {

/// Reports only after its close how what it has posted ended: the first packet was sent, the others
/// were not.
class late final : public simulation::driver {
 public:
  using driver::driver;
  std::size_t reap(std::span<rails::event> out) noexcept override {
    const auto count = driver::reap(out.first(closed_ ? 1 : 0));
    if (count > 0 && std::exchange(failed_, true)) out[0].kind = rails::event_kind::failed;
    return count;
  }
  void close() noexcept override {
    closed_ = true;
    driver::close();
  }

 private:
  bool closed_ = false;
  bool failed_ = false;
};

struct noting_loss final : receiver {
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
  std::function<void()> then = [] {};
  noting_loss* above = nullptr;
  int ends = 0;
  bool well = false;
};

void told(send_item& item, bool well) noexcept {
  auto& p = static_cast<packet_of&>(item);
  ++p.ends;
  p.well = well;
  p.above->untold.fetch_sub(1, std::memory_order_relaxed);
  p.then();
}

template <class Rail>
class posting : public testing::one_peer<Rail, noting_loss> {
 protected:
  explicit posting(const testing::one_peer_options& how = {})
      : testing::one_peer<Rail, noting_loss>(how) {
    this->shut();
  }
  ~posting() override { this->stop(); }

  packet_of& made() {
    auto& p = packets.emplace_back();
    p.sent = &told;
    p.above = &this->above;
    return p;
  }
  [[nodiscard]] posted post(packet_of& p) {
    this->above.untold.fetch_add(1, std::memory_order_relaxed);
    const auto said = this->to().post(p);
    if (said != posted::pending) this->above.untold.fetch_sub(1, std::memory_order_relaxed);
    return said;
  }

  std::deque<packet_of> packets;
};

class peer_in_machine_time : public posting<simulation::driver> {
 protected:
  peer_in_machine_time() : posting({.time = simulation::time_source::machine}) {}
};

// A reaper sets the loss while another thread, inside `sent` and so under the peer's mask, posts:
// neither may wait for the other.
TEST_F(peer_in_machine_time,
       a_post_from_inside_sent_does_not_wait_for_its_own_mask_when_the_peer_is_lost) {
  auto& first = made();
  first.then = [this] {
    rail->report({.kind = rails::event_kind::lost, .peer = testing::other});
    for (int i = 0; i < 10'000'000; ++i)
      if (post(made()) == posted::down) return;
  };
  ASSERT_EQ(post(first), posted::pending);  // the rail is shut: it waits
  std::atomic<bool> opened{false}, over{false};
  std::thread poster([&] {
    auto& second = made();
    open();
    opened.store(true, std::memory_order_release);
    static_cast<void>(post(second));  // sends `first` too, and reports it
    over.store(true, std::memory_order_release);
  });
  while (!opened.load(std::memory_order_acquire)) std::this_thread::yield();
  while (!over.load(std::memory_order_acquire) || !above.told.load(std::memory_order_acquire))
    engine->poll();
  poster.join();
  EXPECT_EQ(above.untold_at_loss, 0) << "all had their end before the loss was told";
  EXPECT_EQ(above.untold.load(), 0);
  for (const auto& p : packets) EXPECT_LE(p.ends, 1);
}

using peer_whose_rail_stops = posting<simulation::driver>;

TEST_F(peer_whose_rail_stops, ends_what_waits_once_and_not_well) {
  for (int i = 0; i < 5; ++i) ASSERT_EQ(post(made()), posted::pending);  // the rail is shut
  stop();
  for (const auto& p : packets) {
    EXPECT_EQ(p.ends, 1);
    EXPECT_FALSE(p.well);
  }
  EXPECT_EQ(post(made()), posted::down);
  EXPECT_EQ(above.untold.load(), 0);
  EXPECT_FALSE(above.told.load()) << "stopping is no loss";
}

using peer_whose_rail_reports_late = posting<late>;

TEST_F(peer_whose_rail_reports_late, ends_what_was_posted_as_the_rail_reports) {
  constexpr std::size_t more_than_inline = 1000;
  static const std::array<std::byte, more_than_inline> bytes{};
  rail->answer(rails::post::posted);
  for (int i = 0; i < 3; ++i) {
    auto& p = made();
    p.payload = bytes;
    ASSERT_EQ(post(p), posted::pending);
  }
  shut();
  ASSERT_EQ(post(made()), posted::pending);
  stop();
  for (const auto& p : packets) EXPECT_EQ(p.ends, 1);
  EXPECT_TRUE(packets[0].well);
  for (std::size_t i = 1; i < packets.size(); ++i) EXPECT_FALSE(packets[i].well);
  EXPECT_EQ(above.untold.load(), 0);
}

}  // namespace
}  // namespace headway::packets::peer_tests
