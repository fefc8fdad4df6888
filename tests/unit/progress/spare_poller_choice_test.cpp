// What `auto` chooses, and that it changes with the load.

#include "progress/background/spare_poller_choice.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "base/clock.hpp"
#include "fixture.hpp"
#include "mailbox.hpp"

namespace headway::progress::testing::spare_poller_choice_tests {
namespace {

constexpr situation roomy{.usable = 8, .shared = 8, .processes = 2, .wake_ns = 20'000};

situation with(void (*change)(situation&)) {
  auto s = roomy;
  change(s);
  return s;
}

TEST(spare_poller, pays_where_every_process_has_a_processor_to_spare) {
  EXPECT_TRUE(spare_poller_pays(roomy));
  EXPECT_TRUE(spare_poller_pays(with([](situation& s) { s.processes = 4; })));
}

TEST(spare_poller, does_not_pay_where_processes_fill_the_machine_or_the_cpuset) {
  EXPECT_FALSE(spare_poller_pays(with([](situation& s) { s.processes = 5; })));
  EXPECT_FALSE(spare_poller_pays(with([](situation& s) { s.usable = 1; })));
}

TEST(spare_poller, does_not_pay_under_a_quota) {
  EXPECT_FALSE(spare_poller_pays(with([](situation& s) { s.quota = true; })));
}

TEST(spare_poller, does_not_pay_where_waking_is_cheap_unless_a_source_cannot_wake) {
  EXPECT_FALSE(spare_poller_pays(with([](situation& s) { s.wake_ns = 1'000; })));
  EXPECT_TRUE(spare_poller_pays(with([](situation& s) {
    s.wake_ns = 1'000;
    s.blind = true;
  })));
}

/// Letters one after another, none of them waited for.
void send_some(running& e, mailbox& box) {
  for (int i = 0; i < 20; ++i) {
    completion c;
    box.post(c);
    ASSERT_TRUE(eventually([&] { return c.test(); }));
  }
  static_cast<void>(e);
}

TEST(automatic, polls_on_a_spare_processor_and_withdraws_when_others_want_it) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor: none is ever spare";
  running e(polling::automatic);
  mailbox box(*e);
  e->pending_started();
  const auto end = std::chrono::steady_clock::now() + patience;
  while (e->statistics().spare_spells < 3 && std::chrono::steady_clock::now() < end)
    send_some(e, box);
  if (e->statistics().spare_spells < 3) {
    e->pending_ended();
    GTEST_SKIP() << "no processor of this machine was spare for " << patience.count() << " s";
  }
  {
    std::deque<std::jthread> load;
    for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
      load.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) base::relax();
      });
    const auto before = e->statistics().spare_withdrawals;
    EXPECT_TRUE(eventually([&] {
      send_some(e, box);  // letters go on by events
      return e->statistics().spare_withdrawals > before;
    }));
  }
  e->pending_ended();
}

}  // namespace
}  // namespace headway::progress::testing::spare_poller_choice_tests
