#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "progress/core/engine.hpp"
#include "topology/machine.hpp"

namespace headway::progress::testing {

/// No test asserts a time tighter than this: it only distinguishes "soon" from "never".
constexpr std::chrono::seconds patience{20};

inline bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

inline void pass_time(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// An engine on this machine, or on a synthetic one.
struct running {
  explicit running(polling points, waiting_policy waits = waiting_policy::adaptive,
                   const std::string& imagined = {}, int processes = 1,
                   locking locks = locking::fine)
      : running(settings{.points = points, .waits = waits, .locks = locks}, imagined, processes) {}

  explicit running(const settings& chosen, const std::string& imagined = {}, int processes = 1) {
    auto read = topology::machine::read({.description = imagined});
    if (!read) throw std::runtime_error(read.error().text);
    machine = std::move(*read);
    auto started = engine::start(*machine, chosen, processes);
    if (!started) throw std::runtime_error(started.error().text);
    the = std::move(*started);
  }
  engine* operator->() const { return the.get(); }
  engine& operator*() const { return *the; }

  std::unique_ptr<topology::machine> machine;
  std::unique_ptr<engine> the;
};

}  // namespace headway::progress::testing
