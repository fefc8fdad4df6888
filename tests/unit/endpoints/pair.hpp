#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "endpoints/service.hpp"
#include "endpoints/wire.hpp"
#include "tests/silent_driver.hpp"
#include "topology/machine.hpp"

namespace headway::endpoints::testing {

/// A rail between two processes in one where each packet is said to cost a system call; keeps what
/// kinds of packets were sent.
class costly_rail final : public rails::testing::silent_driver {
 public:
  costly_rail* other = nullptr;
  std::vector<wire_kind> sent;
  std::size_t pieces = 0;  ///< that were sent to landing zones
  bool cut = false;
  bool pieces_first = false;  ///< they overtake what was sent before
  bool no_zones = false;
  bool loses_pieces = false;

  rails::limits query() const noexcept override {
    return {.name = "costly",
            .header_bytes_max = 64,
            .eager_bytes_max = 4096,
            .inline_bytes_max = 4096,
            .poll_cost_ns = 300};
  }
  rails::post send(rails::peer_id, const rails::packet& what) noexcept override {
    if (cut) return rails::post::down;
    coming next{.zone = static_cast<std::uint32_t>(what.landing),
                .bytes = {what.header.begin(), what.header.end()}};
    next.bytes.insert(next.bytes.end(), what.payload.begin(), what.payload.end());
    if (next.zone != 0) {
      ++pieces;
      if (loses_pieces) return rails::post::done;
    } else {
      sent.push_back(static_cast<wire_kind>(what.header[offsetof(message_head, kind)]));
    }
    if (next.zone != 0 && pieces_first) other->inbox_.push_front(std::move(next));
    else other->inbox_.push_back(std::move(next));
    return rails::post::done;
  }
  bool land(rails::peer_id, rails::landing_id id, std::span<std::byte> target) noexcept override {
    if (no_zones) return false;
    return zones_.emplace(static_cast<std::uint32_t>(id), target).second;
  }
  void unland(rails::landing_id id) noexcept override {
    zones_.erase(static_cast<std::uint32_t>(id));
  }
  std::size_t reap(std::span<rails::event> out) noexcept override {
    std::size_t count = 0;
    if (lose_other && count < out.size()) {
      lose_other = false;
      inbox_.clear();
      out[count++] = {.kind = rails::event_kind::lost, .peer = from};
    }
    for (; count < out.size() && !inbox_.empty(); inbox_.pop_front()) {
      held_.push_back(std::move(inbox_.front()));
      const auto& [zone, bytes] = held_.back();
      if (zone == 0) {
        out[count++] = {.peer = from, .bytes = bytes};
        continue;
      }
      const auto target = zones_.find(zone);
      if (target == zones_.end()) continue;
      std::ranges::copy(bytes, target->second.begin());
      out[count++] = {.kind = rails::event_kind::landed,
                      .peer = from,
                      .landing = rails::landing_id{zone},
                      .count = bytes.size()};
    }
    return count;
  }
  [[nodiscard]] std::size_t zone_count() const noexcept { return zones_.size(); }

  rails::peer_id from{};
  bool lose_other = false;

 private:
  struct coming {
    std::uint32_t zone;
    std::vector<std::byte> bytes;
  };
  std::deque<coming> inbox_;
  std::deque<coming> held_;
  std::map<std::uint32_t, std::span<std::byte>> zones_;
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
      p.own = std::make_unique<service>(
          *p.peers, *p.engine,
          service_options{.process = i, .job = 3, .nodes = {0, 1}, .pack_always = pack_always});
      p.messages = std::make_unique<messages::exchange>(*p.peers, *p.engine);
      p.own->attach(*p.messages);
    }
    all_[0].rail->other = all_[1].rail;
    all_[1].rail->other = all_[0].rail;
    EXPECT_EQ(all_[1].own->open("", no_wait, id_), outcome::ok);
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
    std::memcpy(static_cast<std::byte*>(data) + bytes - sizeof number, &number, sizeof number);
    const auto how = all_[0].own->send(
        {.to = {1, id_}, .tag = static_cast<std::int32_t>(number), .data = data, .bytes = bytes},
        no_wait);
    if (how != outcome::ok) {
      EXPECT_EQ(all_[0].own->release(data), outcome::ok);
    }
    return how;
  }
  void expect(std::uint32_t number, std::size_t bytes) {
    message got;
    ASSERT_EQ(all_[1].own->receive(id_, {}, no_wait, got), outcome::ok) << number;
    std::uint32_t first = 0, last = 0;
    std::memcpy(&first, got.data, sizeof first);
    std::memcpy(&last, static_cast<std::byte*>(got.data) + bytes - sizeof last, sizeof last);
    EXPECT_EQ(first, number);
    EXPECT_EQ(last, number);
    EXPECT_EQ(got.tag, static_cast<std::int32_t>(number));
    EXPECT_EQ(got.bytes, bytes);
    EXPECT_EQ(all_[1].own->release(got.data), outcome::ok);
  }
  void expect_nothing() {
    message got;
    EXPECT_EQ(all_[1].own->receive(id_, {}, no_wait, got), outcome::again);
  }
  void poll(std::uint32_t i) { all_[i].engine->poll(); }
  std::vector<wire_kind>& sent() { return all_[0].rail->sent; }
  void stop(std::uint32_t i) { all_[i].own->stop(); }
  /// The end-point of process 1.
  void close() { EXPECT_EQ(all_[1].own->close(id_), outcome::ok); }
  void cut() { all_[0].rail->cut = true; }
  std::size_t memory(std::uint32_t i = 0) { return all_[i].own->bytes_taken(); }
  costly_rail& rail(std::uint32_t i) { return *all_[i].rail; }
  /// Until what was sent so far has arrived.
  void poll_both() {
    for (int i = 0; i < 8; ++i) poll(static_cast<std::uint32_t>(i % 2));
  }

 private:
  struct one {
    std::unique_ptr<progress::engine> engine;
    std::unique_ptr<packets::peers> peers;
    costly_rail* rail = nullptr;
    std::unique_ptr<service> own;
    std::unique_ptr<messages::exchange> messages;
  };
  std::unique_ptr<topology::machine> machine_ = topology::machine::read().value();
  std::array<one, 2> all_;
  std::uint32_t id_ = 0;
};

}  // namespace headway::endpoints::testing
