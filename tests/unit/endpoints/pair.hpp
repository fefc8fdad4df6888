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
#include "endpoints/wire/wire.hpp"
#include "tests/reaches_all.hpp"
#include "tests/silent_driver.hpp"
#include "topology/machine.hpp"

namespace headway::endpoints::testing {

/// A rail between two processes in one, which reports that each packet costs a system call and
/// records the kinds of packets. Its tests check which packets leave for a call; delivery under
/// faults is tested on the simulation (docs/simulation.md).
class costly_rail final : public rails::testing::silent_driver {
 public:
  costly_rail* other = nullptr;
  std::vector<wire_kind> sent;
  std::size_t pieces = 0;  ///< that were put into exposures
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
    coming next{.exposed = 0, .bytes = {what.header.begin(), what.header.end()}};
    next.bytes.insert(next.bytes.end(), what.payload.begin(), what.payload.end());
    sent.push_back(static_cast<wire_kind>(what.header[offsetof(message_head, kind)]));
    other->inbox_.push_back(std::move(next));
    return rails::post::done;
  }
  rails::post put(rails::peer_id, const rails::remote_place& where,
                  std::span<const std::byte> bytes, std::uint64_t) noexcept override {
    if (cut) return rails::post::down;
    ++pieces;
    if (loses_pieces) return rails::post::done;
    coming next{.exposed = where.exposed.id, .bytes = {bytes.begin(), bytes.end()}};
    if (pieces_first) other->inbox_.push_front(std::move(next));
    else other->inbox_.push_back(std::move(next));
    return rails::post::done;
  }
  base::result<rails::ticket> expose(const rails::exposure& what) noexcept override {
    return no_zones ? refuse_to_expose() : silent_driver::expose(what);
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
      const auto& [exposed, bytes] = held_.back();
      if (exposed == 0) {
        out[count++] = {.peer = from, .bytes = bytes};
        continue;
      }
      const auto* target = exposed_as(exposed);
      if (!target) continue;
      std::ranges::copy(bytes, target->bytes.begin());
      out[count++] = {.kind = rails::event_kind::landed,
                      .peer = from,
                      .count = bytes.size(),
                      .cookie = target->token};
    }
    return count;
  }
  [[nodiscard]] std::size_t zone_count() const noexcept { return shown_.size(); }

  rails::peer_id from{};
  bool lose_other = false;

 private:
  struct coming {
    std::uint64_t exposed;
    std::vector<std::byte> bytes;
  };
  std::deque<coming> inbox_;
  std::deque<coming> held_;
};

/// Two processes in one; only the test polls.
class pair {
 public:
  explicit pair(bool pack_always) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      one& p = all_[i];
      p.engine = progress::engine::start(*machine_, {.points = progress::polling::off}).value();
      p.peers = std::make_unique<packets::peers>(*p.engine, static_cast<rails::peer_id>(i), routes_,
                                                 packets::settings{.processes = 2});
      auto made = std::make_unique<costly_rail>();
      p.rail = made.get();
      p.rail->from = static_cast<rails::peer_id>(1 - i);
      p.peers->add_rail(std::move(made));
      for (std::uint32_t j = 0; j < 2; ++j)
        EXPECT_TRUE(p.peers->use(static_cast<rails::peer_id>(j)));
      p.own = std::make_unique<service>(*p.peers, *p.engine,
                                        service_options{.process = i, .job = 3, .nodes = {0, 1}},
                                        settings{.pack_always = pack_always});
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
  packets::testing::reaches_all routes_;
  std::array<one, 2> all_;
  std::uint32_t id_ = 0;
};

}  // namespace headway::endpoints::testing
