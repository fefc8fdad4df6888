#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "endpoints/service.hpp"
#include "endpoints/wire/wire.hpp"
#include "tests/simulation/job.hpp"

namespace headway::endpoints::testing {

/// Two simulated processes whose rail is easy: process 0 sends, process 1 has an end-point. The
/// test sees what packets leave; that messages arrive whatever fails is what the simulation shows
/// (docs/simulation.md).
class two_processes {
 public:
  explicit two_processes(simulation::job_options chosen = {}) : all_(easy(chosen)) {
    all_.net().on_packet = [this](std::uint32_t from, std::uint32_t,
                                  std::span<const std::byte> header) {
      if (from == 0) sent_.push_back(static_cast<wire_kind>(header[offsetof(message_head, kind)]));
    };
    EXPECT_EQ(at(1).open("", no_wait, id_), outcome::ok);
  }

  [[nodiscard]] simulation::job& job() noexcept { return all_; }
  [[nodiscard]] service& at(std::size_t i) noexcept { return all_.endpoints(i); }
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  /// The kinds of packets that process 0 has sent.
  [[nodiscard]] std::vector<wire_kind>& sent() noexcept { return sent_; }
  void poll(std::size_t i) { all_.at(i).engine().poll(); }
  /// What was sent so far arrives, while process 0 does nothing.
  void deliver() {
    auto& net = all_.net();
    for (int runs = 0; runs < 4;) {
      net.wake(1, net.now_ns() + 1'000'000);
      for (const auto one : net.next())
        if (one == 1) {
          all_.at(1).run();
          ++runs;
        }
    }
  }
  [[nodiscard]] std::size_t exposed_count(std::size_t i) { return all_.at(i).exposed_count(); }
  /// Until nothing more happens.
  void settle() { all_.settle(); }

  /// From process 0 to the end-point of process 1.
  outcome send(std::uint32_t number, std::size_t bytes) {
    void* data = nullptr;
    EXPECT_EQ(at(0).request(bytes, &data), outcome::ok);
    std::memcpy(data, &number, sizeof number);
    std::memcpy(static_cast<std::byte*>(data) + bytes - sizeof number, &number, sizeof number);
    const auto how = at(0).send(
        {.to = {1, id_}, .tag = static_cast<std::int32_t>(number), .data = data, .bytes = bytes},
        no_wait);
    if (how != outcome::ok) {
      EXPECT_EQ(at(0).release(data), outcome::ok);
    }
    return how;
  }
  void expect(std::uint32_t number, std::size_t bytes) {
    deliver();
    message got;
    ASSERT_EQ(at(1).receive(id_, {}, no_wait, got), outcome::ok) << number;
    std::uint32_t first = 0, last = 0;
    std::memcpy(&first, got.data, sizeof first);
    std::memcpy(&last, static_cast<std::byte*>(got.data) + bytes - sizeof last, sizeof last);
    EXPECT_EQ(first, number);
    EXPECT_EQ(last, number);
    EXPECT_EQ(got.tag, static_cast<std::int32_t>(number));
    EXPECT_EQ(got.bytes, bytes);
    EXPECT_EQ(at(1).release(got.data), outcome::ok);
  }
  void expect_nothing() {
    message got;
    EXPECT_EQ(at(1).receive(id_, {}, no_wait, got), outcome::again);
  }

 private:
  static simulation::job_options easy(simulation::job_options chosen) {
    chosen.endpoints = true;
    chosen.rail.flight_bytes_max = std::size_t{1} << 30;
    chosen.difficulty = {.retry_one_in = 0, .posted_one_in = 0, .refuse_one_in = 0};
    return chosen;
  }

  std::vector<wire_kind> sent_;
  simulation::job all_;
  std::uint32_t id_ = 0;
};

}  // namespace headway::endpoints::testing
