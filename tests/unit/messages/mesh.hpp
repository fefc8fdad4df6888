#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "messages/exchange.hpp"
#include "packets/peers.hpp"
#include "tests/silent_driver.hpp"

namespace headway::messages::testing {

/// A network in memory that is as difficult as the driver contract allows: on a seed it answers
/// `retry`, posts instead of taking, and delivers late. A process can be killed.
class mesh {
 public:
  explicit mesh(std::uint32_t seed) : random_(seed) {}

  class driver;

 private:
  struct parcel {
    std::uint32_t from;
    std::vector<std::byte> bytes;  // of an ordinary packet
    std::uint32_t zone;            // of a piece
    std::uint64_t offset;
  };
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  std::mutex lock_;
  std::mt19937 random_;
  std::map<std::uint32_t, driver*> drivers_;
};

class mesh::driver final : public rails::testing::silent_driver {
 public:
  driver(mesh& net, std::uint32_t self) : net_(net), self_(self) { net_.drivers_[self] = this; }
  ~driver() override { close(); }

  rails::limits query() const noexcept override {
    return {.name = "mesh", .header_bytes_max = 64, .eager_bytes_max = 1024};
  }

  rails::post send(rails::peer_id peer, const rails::packet& what) noexcept override {
    const std::lock_guard guard(net_.lock_);
    driver* to = net_.drivers_[static_cast<std::uint32_t>(peer)];
    if (!to || dead_) return rails::post::down;
    if (net_.chance(4)) return rails::post::retry;
    const bool later = !what.payload.empty() && net_.chance(2);
    std::vector<std::byte> bytes(what.header.begin(), what.header.end());
    bytes.insert(bytes.end(), what.payload.begin(), what.payload.end());
    to->inbox_.push_back(
        {self_, std::move(bytes), static_cast<std::uint32_t>(what.landing), what.offset});
    if (!later) return rails::post::done;
    events_.push_back({.kind = rails::event_kind::sent, .peer = peer, .cookie = what.cookie});
    return rails::post::posted;
  }
  bool land(rails::peer_id, rails::landing_id id, std::span<std::byte> target) noexcept override {
    const std::lock_guard guard(net_.lock_);
    if (net_.chance(4)) return false;
    zones_[static_cast<std::uint32_t>(id)] = target;
    return true;
  }
  void unland(rails::landing_id id) noexcept override {
    const std::lock_guard guard(net_.lock_);
    zones_.erase(static_cast<std::uint32_t>(id));
  }
  std::size_t reap(std::span<rails::event> out) noexcept override {
    const std::lock_guard guard(net_.lock_);
    std::size_t count = 0;
    while (count < out.size() && !events_.empty()) {
      out[count++] = events_.front();
      events_.pop_front();
    }
    while (count < out.size() && !inbox_.empty() && !net_.chance(3)) {
      held_.push_back(std::move(inbox_.front()));
      inbox_.pop_front();
      const parcel& p = held_.back();
      rails::event e{.peer = static_cast<rails::peer_id>(p.from), .bytes = p.bytes};
      if (p.zone != 0) {
        const auto zone = zones_.find(p.zone);
        if (zone == zones_.end()) continue;
        std::memcpy(zone->second.data() + p.offset, p.bytes.data(), p.bytes.size());
        e.kind = rails::event_kind::landed;
        e.landing = static_cast<rails::landing_id>(p.zone);
        e.count = p.bytes.size();
      }
      out[count++] = e;
    }
    return count;
  }
  void close() noexcept override {
    const std::lock_guard guard(net_.lock_);
    net_.drivers_.erase(self_);
  }

  /// This process is gone: the others are told.
  void die() {
    const std::lock_guard guard(net_.lock_);
    dead_ = true;
    net_.drivers_.erase(self_);
    for (auto& [rank, other] : net_.drivers_)
      other->events_.push_back(
          {.kind = rails::event_kind::lost, .peer = static_cast<rails::peer_id>(self_)});
  }

 private:
  mesh& net_;
  const std::uint32_t self_;
  bool dead_ = false;
  std::deque<rails::event> events_;
  std::deque<parcel> inbox_;
  std::deque<parcel> held_;
  std::map<std::uint32_t, std::span<std::byte>> zones_;
};

/// `count` processes in one, each with its own engine; by default only the test polls.
class processes {
 public:
  explicit processes(std::uint32_t count, std::uint32_t seed,
                     progress::polling points = progress::polling::off)
      : net_(seed) {
    machine_ = topology::machine::read().value();
    for (std::uint32_t i = 0; i < count; ++i) {
      one p;
      p.engine = progress::engine::start(*machine_, {.points = points}).value();
      p.peers = std::make_unique<packets::peers>(*p.engine, count, static_cast<rails::peer_id>(i));
      auto made = std::make_unique<mesh::driver>(net_, i);
      p.driver = made.get();
      p.peers->add_rail(std::move(made));
      const std::vector<std::optional<std::vector<std::byte>>> address(1,
                                                                       std::vector<std::byte>(1));
      for (std::uint32_t j = 0; j < count; ++j)
        EXPECT_TRUE(p.peers->connect(static_cast<rails::peer_id>(j), address));
      p.messages = std::make_unique<exchange>(*p.peers, *p.engine);
      all_.push_back(std::move(p));
    }
  }
  exchange& at(std::size_t i) { return *all_[i].messages; }
  void kill(std::size_t i) { all_[i].driver->die(); }
  context* open(std::size_t i, std::uint32_t id, bool collective = false) {
    std::vector<std::uint32_t> ranks(all_.size());
    for (std::uint32_t j = 0; j < all_.size(); ++j) ranks[j] = j;
    return at(i).open_context(id, static_cast<int>(i), ranks, collective);
  }
  /// Rounds on all processes until `enough()` or very many rounds; says which.
  template <class Enough>
  bool poll_until(Enough enough) {
    for (int round = 0; round < 5'000; ++round) {
      if (enough()) return true;
      for (auto& p : all_) p.engine->poll();
    }
    return enough();
  }

 private:
  struct one {
    std::unique_ptr<progress::engine> engine;
    std::unique_ptr<packets::peers> peers;
    mesh::driver* driver = nullptr;
    std::unique_ptr<messages::exchange> messages;
  };
  mesh net_;
  std::unique_ptr<topology::machine> machine_;
  std::vector<one> all_;
};

}  // namespace headway::messages::testing
