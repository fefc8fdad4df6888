#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "progress/os/sched_boost.hpp"
#include "progress/os/scheduling_attributes.hpp"

namespace headway::progress::testing {

constexpr int lighter_nice = 3;

inline scheduling_attributes of_this_thread() {
  scheduling_attributes now;
  EXPECT_TRUE(get_attributes(0, now));
  return now;
}

/// Runs a function in a thread that has reduced its own weight, which needs no permission.
template <class Body>
void in_a_lighter_thread(Body body) {
  std::jthread([&] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, lighter_nice), 0);
    body();
  }).join();
}

inline bool may_raise_weight() {
  sched_boost s;
  bool has = false;
  in_a_lighter_thread([&] {
    scoped_boost me(s, gettid());
    has = me.ask(true) && of_this_thread().nice == greatest_weight;
  });
  return has;
}

}  // namespace headway::progress::testing
