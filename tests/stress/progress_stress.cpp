// Goal:   no ltask is lost or run twice, no wait sleeps for ever, nothing races, while threads
//         submit, cancel, poll, wait and complete, and polling points are turned on and off.
// Method: a fixed number of operations for each thread and seed; under ThreadSanitizer in preset
//         tsan.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "progress/background/polling_points.hpp"
#include "tests/unit/progress/fixture.hpp"
#include "tests/unit/progress/mailbox.hpp"

namespace headway::progress::testing {
namespace {

struct ticket_task : ltask {
  ticket_task() : ltask("ticket", &run, ltask_kind::one_shot) {}
  static ltask_result run(ltask& self) noexcept {
    auto& me = static_cast<ticket_task&>(self);
    ++me.runs;  // plain: ordered by the completion of `ended`
    me.ended.complete();
    return ltask_result::done;
  }
  int runs = 0;
  completion ended;
};

class engine_stress : public ::testing::TestWithParam<polling> {};

TEST_P(engine_stress, runs_every_one_shot_of_many_submitters_once) {
  constexpr int threads = 4, each = 500;
  running e(GetParam());
  std::vector<std::jthread> submitters;
  for (int t = 0; t < threads; ++t)
    submitters.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        ticket_task task;  // on the stack: freed as soon as its completion is done
        if ((i + t) % 2) e->submit(task);
        else e->submit_here(task);
        e->wait(task.ended);
        ASSERT_EQ(task.runs, 1);
      }
    });
}

TEST_P(engine_stress, cancels_what_runs) {
  struct busy : ltask {
    busy() : ltask("busy", &run) {}
    static ltask_result run(ltask& self) noexcept {
      auto& me = static_cast<busy&>(self);
      ++me.runs;  // plain: the engine serialises it; after `cancel` it belongs to this thread
      return ltask_result::advanced;
    }
    int runs = 0;
  };
  running e(GetParam());
  std::vector<std::jthread> pollers;
  for (int t = 0; t < 2; ++t)
    pollers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) e->poll();
    });
  std::vector<std::jthread> owners;
  for (int t = 0; t < 2; ++t)
    owners.emplace_back([&] {
      busy task;
      for (int i = 0; i < 300; ++i) {
        if (i % 3) e->submit(task);
        else e->submit_here(task);
        if (i % 5 == 0) std::this_thread::yield();
        e->cancel(task);
        task.runs = 0;
      }
    });
}

TEST_P(engine_stress, wakes_every_one_of_many_waiters) {
  constexpr int threads = 6, letters = 300;
  running e(GetParam());
  mailbox box(*e);
  std::array<std::atomic<completion*>, threads * 2> open{};
  std::vector<std::jthread> waiters;
  for (std::size_t t = 0; t < threads; ++t)
    waiters.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < letters; ++i) {
        auto first = std::make_unique<completion>(), second = std::make_unique<completion>();
        open[2 * t].store(first.get());
        if (random() % 2) {
          e->wait(*first);
          continue;
        }
        open[2 * t + 1].store(second.get());
        std::array<completion*, 2> any{first.get(), second.get()};
        const auto which = e->wait_any(any);
        any[which] = nullptr;
        (which == 0 ? first : second).reset();  // the owner may free it at once
        static_cast<void>(e->wait_any(any));
      }
    });
  std::jthread sender([&](const std::stop_token& stop) {
    std::mt19937 random(99);
    while (!stop.stop_requested())
      for (auto& slot : open)
        if (auto* c = slot.exchange(nullptr)) {
          if (random() % 4) box.post(*c);
          else c->complete();
        }
  });
  for (auto& w : waiters) w.join();
}

TEST_P(engine_stress, lets_waits_end_by_deadline_beside_letters) {
  running e(GetParam());
  mailbox box(*e);
  std::vector<std::jthread> waiters;
  for (int t = 0; t < 3; ++t)
    waiters.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 200; ++i) {
        completion c;
        box.post(c);
        while (!e->wait_until(c, base::machine_now_ns() + random() % 100'000)) {
        }
      }
    });
}

INSTANTIATE_TEST_SUITE_P(all, engine_stress,
                         ::testing::Values(polling::off, polling::timer, polling::idle,
                                           polling::automatic));

TEST(engine_stress, starts_and_stops_polling_points_beside_traffic) {
  running e(polling::automatic);
  mailbox box(*e);
  std::atomic<bool> over{false};
  std::vector<std::jthread> waiters;
  for (int t = 0; t < 3; ++t)
    waiters.emplace_back([&] {
      while (!over) {
        completion c;
        e->pending_started();
        box.post(c);
        e->wait(c);
        e->pending_ended();
      }
    });
  constexpr std::array all{polling::off, polling::event, polling::timer, polling::idle,
                           polling::automatic};
  for (std::size_t i = 0; i < 60; ++i) e->points().choose(all[i % all.size()]);
  over = true;
}

TEST(engine_stress, starts_and_stops_many_times) {
  for (int i = 0; i < 50; ++i) {
    running e(i % 2 ? polling::automatic : polling::idle);
    mailbox box(*e);
    completion c;
    box.post(c);
    e->wait(c);
  }
}

}  // namespace
}  // namespace headway::progress::testing
