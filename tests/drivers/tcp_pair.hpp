#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "rails/health.hpp"
#include "rails/tcp/tcp_driver.hpp"
#include "tests/job_table.hpp"
#include "tests/loopback.hpp"
#include "world.hpp"

namespace headway::rails::testing {

/// Ranks 0 and 1 of a job, in this process, which know each other's address over TCP alone.
struct tcp_pair {
  using address = std::vector<std::byte>;

  /// `as_known`: what `a` is told of the address of `b`.
  tcp_pair(
      const tcp::settings& of_a, const tcp::settings& of_b,
      const std::function<address(const address&)>& as_known = [](const address& it) { return it; })
      : a(make(0, of_a)), b(make(1, of_b)) {
    const auto address_a = a->open(), address_b = b->open();
    EXPECT_TRUE(address_a && address_b);
    EXPECT_TRUE(a->connect(peer_id{1}, as_known(*address_b)));
    EXPECT_TRUE(b->connect(peer_id{0}, *address_a));
  }
  ~tcp_pair() {
    std::thread other([&] { b->close(); });
    a->close();
    other.join();
  }
  /// No other rail joins them.
  void resume_if_cut() {
    a->health()->resume_if_cut(peer_id{1});
    b->health()->resume_if_cut(peer_id{0});
  }
  /// False after 20 s.
  [[nodiscard]] bool run_until(const std::function<bool()>& enough) {
    const auto deadline = base::machine_now_ns() + 20'000'000'000u;
    while (!enough()) {
      a.step();
      b.step();
      if (base::machine_now_ns() > deadline) return false;
    }
    return true;
  }

  const std::string job = fresh_job();
  station a, b;

 private:
  [[nodiscard]] std::unique_ptr<driver> make(std::uint32_t rank, const tcp::settings& how) const {
    return std::make_unique<tcp::tcp_driver>(
        tcp::config{.known = &headway::testing::table_of(job, 2),
                    .me = peer_id{rank},
                    .secret = {},
                    .interfaces = headway::testing::loopback(),
                    .how = how});
  }
};

}  // namespace headway::rails::testing
