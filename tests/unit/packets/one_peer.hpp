#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "packets/control.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "topology/machine.hpp"

namespace headway::packets::testing {

struct deaf final : receiver {
  void arrived(peer&, std::span<const std::byte>) noexcept override {}
  void lost(peer&) noexcept override { FAIL() << "the peer is there"; }
};

/// A process that announces large messages to a peer, which is the test itself: `Rail` is a
/// `silent_driver`.
/// Threads: one.
template <class Rail>
class one_peer : public ::testing::Test {
 protected:
  one_peer() {
    auto made = std::make_unique<Rail>();
    rail = made.get();
    all.add_rail(std::move(made));
    all.start(above);
  }
  ~one_peer() override { all.stop(); }

  void poll() {
    constexpr int rounds = 100;
    for (int i = 0; i < rounds; ++i) engine->poll();
  }
  /// `Message` is a transfer with a `number`.
  template <class Message>
  void announce(Message& m) {
    all.rendezvous().post_rts(all.at(1), m, [&](const announced& as) {
      m.number = as.number;
      write_head(m, stream_head{.kind = 1});
    });
  }
  /// The peer says this of a message.
  void answer(const control& c) {
    std::memcpy(given.data(), &c, sizeof c);
    rail->events.push_back({.peer = rails::peer_id{1}, .bytes = given});
    poll();
  }

  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}).value();
  deaf above;
  reaches_all routes;
  peers all{*engine, rails::peer_id{0}, routes};
  Rail* rail = nullptr;
  alignas(8) std::array<std::byte, sizeof(control)> given{};
};

}  // namespace headway::packets::testing
