#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "progress/scheduling_attributes.hpp"
#include "progress/standing.hpp"

namespace headway::progress::testing {

constexpr int lighter_nice = 3;

inline scheduling_attributes of_this_thread() {
  scheduling_attributes now;
  EXPECT_TRUE(get_attributes(0, now));
  return now;
}

/// In a thread that has made itself lighter, which it always may.
template <class Body>
void in_a_lighter_thread(Body body) {
  std::jthread([&] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, lighter_nice), 0);
    body();
  }).join();
}

inline bool may_have_weight() {
  standing s;
  bool has = false;
  in_a_lighter_thread([&] {
    preferred me(s, gettid());
    has = me.ask(true) && of_this_thread().nice == greatest_weight;
  });
  return has;
}

}  // namespace headway::progress::testing
