#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "endpoints/service.hpp"
#include "endpoints/wire.hpp"
#include "rails/driver.hpp"
#include "topology/machine.hpp"

namespace {

using namespace headway;
using endpoints::outcome;
using endpoints::wire_kind;

/// A rail between two processes in one where each packet is said to cost a system call; keeps what
/// kinds of packets were sent.
class costly_rail final : public rails::driver {
 public:
  costly_rail* other = nullptr;
  std::vector<wire_kind> sent;
  bool cut = false;

  rails::limits query() const noexcept override {
    return {.name = "costly",
            .header_bytes_max = 64,
            .eager_bytes_max = 4096,
            .inline_bytes_max = 4096,
            .poll_cost_ns = 300};
  }
  base::result<std::vector<std::byte>> open() override { return std::vector<std::byte>(1); }
  base::result<> connect(rails::peer_id, std::span<const std::byte>) override { return {}; }
  rails::post send(rails::peer_id, const rails::packet& what) noexcept override {
    if (cut) return rails::post::down;
    sent.push_back(static_cast<wire_kind>(what.header[offsetof(endpoints::message_head, kind)]));
    auto& bytes = other->inbox_.emplace_back(what.header.begin(), what.header.end());
    bytes.insert(bytes.end(), what.payload.begin(), what.payload.end());
    return rails::post::done;
  }
  bool land(rails::peer_id, rails::landing_id, std::span<std::byte>) noexcept override {
    return true;
  }
  void unland(rails::landing_id) noexcept override {}
  std::size_t reap(std::span<rails::event> out) noexcept override {
    std::size_t count = 0;
    for (; count < out.size() && next_ < inbox_.size(); ++count, ++next_)
      out[count] = {.peer = from, .bytes = inbox_[next_]};
    return count;
  }
  void release(const rails::event&) noexcept override {}
  int descriptor() const noexcept override { return -1; }
  bool arm(bool) noexcept override { return true; }
  void tick(std::uint64_t) noexcept override {}
  void close() noexcept override {}

  rails::peer_id from{};

 private:
  std::deque<std::vector<std::byte>> inbox_;
  std::size_t next_ = 0;
};

/// Two processes in one; only the test polls.
class pair {
 public:
  explicit pair(bool pack_always) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      one& p = all_[i];
      p.engine = progress::engine::start(*machine_, {.points = progress::polling::off}).value();
      p.peers = std::make_unique<packets::peers>(*p.engine, 2, static_cast<rails::peer_id>(i));
      auto made = std::make_unique<costly_rail>();
      p.rail = made.get();
      p.rail->from = static_cast<rails::peer_id>(1 - i);
      p.peers->add_rail(std::move(made));
      const std::vector<std::optional<std::vector<std::byte>>> at(1, std::vector<std::byte>(1));
      for (std::uint32_t j = 0; j < 2; ++j)
        EXPECT_TRUE(p.peers->connect(static_cast<rails::peer_id>(j), at));
      p.own = std::make_unique<endpoints::service>(
          *p.peers, *p.engine,
          endpoints::service_options{
              .process = i, .job = 3, .nodes = {0, 1}, .pack_always = pack_always});
      p.messages = std::make_unique<messages::exchange>(*p.peers, *p.engine);
      p.own->attach(*p.messages);
    }
    all_[0].rail->other = all_[1].rail;
    all_[1].rail->other = all_[0].rail;
    EXPECT_EQ(all_[1].own->open("", endpoints::no_wait, id_), outcome::ok);
  }
  ~pair() {
    for (auto& p : all_) p.own->stop();
    for (auto& p : all_) {
      p.messages.reset();
      p.peers.reset();
    }
  }
  /// From process 0 to the end-point of process 1.
  outcome send(std::uint32_t number, std::size_t bytes) {
    void* data = nullptr;
    EXPECT_EQ(all_[0].own->request(bytes, &data), outcome::ok);
    std::memcpy(data, &number, sizeof number);
    const auto how = all_[0].own->send(
        {.to = {1, id_}, .tag = static_cast<std::int32_t>(number), .data = data, .bytes = bytes},
        endpoints::no_wait);
    if (how != outcome::ok) {
      EXPECT_EQ(all_[0].own->release(data), outcome::ok);
    }
    return how;
  }
  void expect(std::uint32_t number, std::size_t bytes) {
    endpoints::message got;
    ASSERT_EQ(all_[1].own->receive(id_, {}, endpoints::no_wait, got), outcome::ok) << number;
    std::uint32_t said = 0;
    std::memcpy(&said, got.data, sizeof said);
    EXPECT_EQ(said, number);
    EXPECT_EQ(got.tag, static_cast<std::int32_t>(number));
    EXPECT_EQ(got.bytes, bytes);
    EXPECT_EQ(all_[1].own->release(got.data), outcome::ok);
  }
  void expect_nothing() {
    endpoints::message got;
    EXPECT_EQ(all_[1].own->receive(id_, {}, endpoints::no_wait, got), outcome::again);
  }
  void poll(std::uint32_t i) { all_[i].engine->poll(); }
  std::vector<wire_kind>& sent() { return all_[0].rail->sent; }
  void stop(std::uint32_t i) { all_[i].own->stop(); }
  void cut() { all_[0].rail->cut = true; }
  std::size_t memory() { return all_[0].own->bytes_taken(); }

 private:
  struct one {
    std::unique_ptr<progress::engine> engine;
    std::unique_ptr<packets::peers> peers;
    costly_rail* rail = nullptr;
    std::unique_ptr<endpoints::service> own;
    std::unique_ptr<messages::exchange> messages;
  };
  std::unique_ptr<topology::machine> machine_ = topology::machine::read().value();
  std::array<one, 2> all_;
  std::uint32_t id_ = 0;
};

using kinds = std::vector<wire_kind>;

TEST(packing, what_nobody_would_send_later_leaves_at_once) {
  pair p(false);
  for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(p.send(i, 64), outcome::ok);
  EXPECT_EQ(p.sent(), kinds(20, wire_kind::data));
  for (std::uint32_t i = 0; i < 20; ++i) p.expect(i, 64);
}

TEST(packing, what_gathers_leaves_in_one_packet_when_somebody_polls) {
  pair p(true);
  for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(p.send(i, 64 + i), outcome::ok);
  EXPECT_TRUE(p.sent().empty());
  p.poll(0);
  EXPECT_EQ(p.sent(), kinds{wire_kind::packed});
  for (std::uint32_t i = 0; i < 20; ++i) p.expect(i, 64 + i);
  p.expect_nothing();
}

TEST(packing, a_packet_that_is_full_waits_for_nobody) {
  pair p(true);
  for (std::uint32_t i = 0; i < 5; ++i) ASSERT_EQ(p.send(i, 1000), outcome::ok);
  EXPECT_EQ(p.sent(), kinds{wire_kind::packed});
  for (std::uint32_t i = 0; i < 4; ++i) p.expect(i, 1000);
  p.expect_nothing();
  p.poll(0);
  p.expect(4, 1000);
}

TEST(packing, a_message_too_large_to_be_packed_overtakes_none) {
  pair p(true);
  ASSERT_EQ(p.send(0, 64), outcome::ok);
  ASSERT_EQ(p.send(1, 64), outcome::ok);
  ASSERT_EQ(p.send(2, 4000), outcome::ok);
  EXPECT_EQ(p.sent(), (kinds{wire_kind::packed, wire_kind::data}));
  ASSERT_EQ(p.send(3, 64), outcome::ok);
  p.poll(0);
  for (std::uint32_t i = 0; i < 4; ++i) p.expect(i, i == 2 ? 4000 : 64);
}

TEST(packing, each_packet_is_sent_by_a_round_of_its_own) {
  pair p(true);
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(p.send(i, 64), outcome::ok);
    p.poll(0);
    EXPECT_EQ(p.sent(), kinds(i + 1, wire_kind::packed));
    p.expect(i, 64);
  }
}

TEST(packing, what_was_packed_for_a_lost_process_is_given_up_and_its_memory_used_again) {
  pair p(true);
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_EQ(p.send(i, 64), outcome::ok);
  p.cut();
  p.poll(0);
  const auto before = p.memory();
  for (std::uint32_t i = 0; i < 1000; ++i)
    if (p.send(i, 64) == outcome::ok) p.poll(0);
  EXPECT_EQ(p.memory(), before);
}

TEST(packing, what_has_gathered_is_sent_before_the_good_bye) {
  pair p(true);
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_EQ(p.send(i, 64), outcome::ok);
  p.stop(0);
  EXPECT_EQ(p.sent(), (kinds{wire_kind::packed, wire_kind::leaving}));
  for (std::uint32_t i = 0; i < 3; ++i) p.expect(i, 64);
}

}  // namespace
