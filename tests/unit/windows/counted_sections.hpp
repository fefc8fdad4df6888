#pragma once

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace headway::windows::testing {

/// Several threads count in critical sections: `section(count)` runs `count` with the lock held.
template <class Section>
void expect_ordered_sections(const Section& section) {
  constexpr int threads = 4, rounds = 20'000;
  long counter = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) section([&] { ++counter; });
    });
  for (auto& each : all) each.join();
  EXPECT_EQ(counter, long{threads} * rounds);
}

}  // namespace headway::windows::testing
