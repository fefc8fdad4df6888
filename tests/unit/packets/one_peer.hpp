#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>

#include "packets/control.hpp"
#include "packets/peers.hpp"
#include "tests/reaches_all.hpp"
#include "tests/simulation/bare_ends.hpp"
#include "topology/machine.hpp"

namespace headway::packets::testing {

constexpr rails::peer_id other{1};

struct deaf final : receiver {
  void arrived(peer&, std::span<const std::byte>) noexcept override {}
  void lost(peer&) noexcept override { FAIL() << "the peer is there"; }
};

struct one_peer_options {
  simulation::rail_plan rail = simulation::bare_ends::immediate;
  simulation::time_source time = simulation::time_source::simulated;
  settings chosen = {};
};

/// A process with one rail to a peer, which is the test itself: process 1 of `ends`. Time stands
/// still, or it is the machine's.
/// Threads: one; with the machine's time as `peers`.
template <class Rail = simulation::driver, class Above = deaf>
class one_peer : public ::testing::Test {
 protected:
  explicit one_peer(const one_peer_options& how = {})
      : ends(1, {how.rail}, how.time), all(*engine, rails::peer_id{0}, routes, how.chosen) {
    auto made = ends.make_rail<Rail>();
    rail = made.get();
    all.add_rail(std::move(made));
    all.start(above);
  }
  ~one_peer() override { stop(); }

  /// Until everything has ended, so time passes.
  void stop() {
    ends.net.run_out();
    all.stop();
  }
  void poll() {
    constexpr int rounds = 100;
    for (int i = 0; i < rounds; ++i) engine->poll();
  }
  [[nodiscard]] peer& to() { return all.at(other); }
  /// The rail takes nothing.
  void shut() { rail->answer(rails::post::retry); }
  void open() { rail->answer({}); }
  /// `Message` is a transfer with a `number`.
  template <class Message>
  void announce(Message& m) {
    all.rendezvous().post_rts(to(), m, [&](const announced& as) {
      m.number = as.number;
      write_head(m, stream_head{.kind = 1});
    });
  }
  /// The peer says this of a message.
  void answer(const control& c) {
    ends.send(1, std::as_bytes(std::span(&c, 1)));
    poll();
  }

  simulation::bare_ends ends;
  std::unique_ptr<topology::machine> machine = topology::machine::read().value();
  std::unique_ptr<progress::engine> engine =
      progress::engine::start(*machine, {.points = progress::polling::off}, 1, ends.net.clock())
          .value();
  Above above;
  reaches_all routes;
  peers all;
  Rail* rail = nullptr;
};

}  // namespace headway::packets::testing
