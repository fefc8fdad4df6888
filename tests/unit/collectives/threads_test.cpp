// Goal:   blocking collectives, and those that any thread advances by completing a message, pass
//         their state between threads without races. For ThreadSanitizer.
// Method: a thread per rank; messages are completed by the thread that finds the pair, and a pool
//         thread runs the turns of schedules.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "collectives/collectives.hpp"
#include "collectives/operators.hpp"
#include "collectives/schedule_cache.hpp"

namespace headway::collectives::test {
namespace {

using datatypes::layout;
using datatypes::number;

/// Messages between threads, under one lock; completions outside of it.
class thread_world {
 public:
  explicit thread_world(int ranks) {
    for (int i = 0; i < ranks; ++i) nodes_.push_back(std::make_unique<node>(*this, i, ranks));
    pool_ = std::thread([this] { run_turns(); });
  }
  ~thread_world() {
    {
      const std::lock_guard hold(lock_);
      closing_ = true;
    }
    changed_.notify_all();
    pool_.join();
  }
  team& ranks(int rank) { return nodes_[static_cast<std::size_t>(rank)]->ranks; }

 private:
  struct node final : transport {
    node(thread_world& all, int number, int size)
        : world(all), rank(number), ranks(*this, number, size) {}
    void send(messages::request& r, std::span<const std::byte> data, int destination,
              messages::label as) noexcept override {
      world.send(r, data, {rank, destination, as.tag});
    }
    void send_failure(messages::request& r, messages::outcome, std::size_t due_bytes,
                      int destination, messages::label as) noexcept override {
      world.send(r, wrong_length(due_bytes), {rank, destination, as.tag});
    }
    void receive(messages::request& r, std::span<std::byte> buffer, int source,
                 messages::label as) noexcept override {
      world.receive(r, buffer, {source, rank, as.tag});
    }
    [[nodiscard]] messages::operation_log& log() noexcept override { return operations; }
    [[nodiscard]] bool lost(int) const noexcept override { return false; }
    void submit(schedule_run& ready) noexcept override { world.submit(ready); }
    void submit(shared_banks&) noexcept override { std::abort(); }  // it has none
    void look_now() noexcept override { std::abort(); }
    void wait(progress::completion& what) noexcept override { world.wait(what); }
    [[nodiscard]] bool begin_lone_spin() noexcept override { return false; }
    void end_lone_spin() noexcept override {}
    void pending_started() noexcept override {}
    void pending_ended() noexcept override {}
    void rely() noexcept override { std::abort(); }
    void rely_no_more() noexcept override { std::abort(); }
    thread_world& world;
    int rank;
    messages::operation_log operations;
    team ranks;
  };
  struct key {
    int source, destination, tag;
    auto operator<=>(const key&) const = default;
  };
  struct posted {
    messages::request* request;
    std::span<std::byte> buffer;
  };
  struct line {
    std::deque<std::vector<std::byte>> sent;
    std::deque<posted> waiting;
  };

  void finish(messages::request& r, std::size_t bytes) {
    r.arrived = {.source = 0, .tag = 0, .bytes = bytes, .how = messages::outcome::ok};
    if (!r.finish || r.finish(r)) r.complete();
    const std::lock_guard hold(lock_);  // so that no thread misses it between test and wait
    changed_.notify_all();
  }
  void deliver(posted p, const std::vector<std::byte>& data) {
    if (!data.empty()) std::memcpy(p.buffer.data(), data.data(), data.size());
    finish(*p.request, data.size());
  }
  void send(messages::request& r, std::span<const std::byte> data, const key& where) {
    std::vector<std::byte> copy(data.begin(), data.end());
    std::unique_lock hold(lock_);
    line& l = lines_[where];
    if (l.waiting.empty()) {
      l.sent.push_back(std::move(copy));
      hold.unlock();
    } else {
      const auto p = l.waiting.front();
      l.waiting.pop_front();
      hold.unlock();
      deliver(p, copy);
    }
    finish(r, data.size());
  }
  void receive(messages::request& r, std::span<std::byte> buffer, const key& where) {
    std::unique_lock hold(lock_);
    line& l = lines_[where];
    if (l.sent.empty()) {
      l.waiting.push_back({&r, buffer});
      return;
    }
    const auto data = std::move(l.sent.front());
    l.sent.pop_front();
    hold.unlock();
    deliver({&r, buffer}, data);
  }
  void submit(schedule_run& ready) {
    const std::lock_guard hold(lock_);
    turns_.push_back(&ready);
    changed_.notify_all();
  }
  void wait(progress::completion& what) {
    std::unique_lock hold(lock_);
    changed_.wait(hold, [&] { return what.test(); });
  }
  void run_turns() {
    std::unique_lock hold(lock_);
    for (;;) {
      changed_.wait(hold, [&] { return closing_ || !turns_.empty(); });
      if (turns_.empty()) return;
      schedule_run* next = turns_.front();
      turns_.pop_front();
      hold.unlock();
      next->take_turn();
      hold.lock();
      changed_.notify_all();
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::map<key, line> lines_;
  std::deque<schedule_run*> turns_;
  bool closing_ = false;
  std::vector<std::unique_ptr<node>> nodes_;
  std::thread pool_;
};

constexpr std::int64_t count = 5;

void sum_of(schedule_run& s, team& t, std::vector<std::int64_t>& data) {
  for (std::int64_t i = 0; i < count; ++i) data[static_cast<std::size_t>(i)] = t.rank + i;
  allreduce(s, t,
            {.receive = data.data(),
             .count = count,
             .type = &layout::of(number::int64),
             .op = predefined(operation::sum, number::int64).value(),
             .in_place = true});
  s.bind(t);
}

bool is_sum(const std::vector<std::int64_t>& data, int ranks) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (data[static_cast<std::size_t>(i)] != ranks * (ranks - 1) / 2 + ranks * i) return false;
  }
  return true;
}

void on_all(int ranks, thread_world& world, void (*act)(team& t)) {
  std::vector<std::thread> threads;
  for (int i = 0; i < ranks; ++i) threads.emplace_back([&, i] { act(world.ranks(i)); });
  for (auto& t : threads) t.join();
}

TEST(threads, run_blocking_collectives_to_the_right_end) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    thread_world world(ranks);
    on_all(ranks, world, [](team& t) {
      for (int round = 0; round < 40; ++round) {
        std::vector<std::int64_t> data(count), all(static_cast<std::size_t>(count * t.size));
        const auto s = new_schedule();
        sum_of(*s, t, data);
        ASSERT_EQ(s->run(), messages::outcome::ok);
        ASSERT_TRUE(is_sum(data, t.size));
        const auto g = new_schedule();  // a round of many messages
        const blocks to{.data = all.data(), .type = &layout::of(number::int64), .count = count};
        const block mine{data.data(), count, to.type};
        gather(*g, t, &mine, to, 0);
        g->bind(t);
        ASSERT_EQ(g->run(), messages::outcome::ok);
        if (t.rank == 0) {
          ASSERT_EQ(all.back(), data.back());
        }
      }
    });
  }
}

TEST(threads, advance_what_they_did_not_start) {
  for (const int ranks : {2, 3, 4}) {
    thread_world world(ranks);
    on_all(ranks, world, [](team& t) {
      for (int round = 0; round < 15; ++round) {
        constexpr std::size_t at_once = 4;
        std::vector<std::vector<std::int64_t>> data(at_once, std::vector<std::int64_t>(count));
        std::vector<schedule_ptr> all;
        for (auto& d : data) {
          all.push_back(new_schedule());
          sum_of(*all.back(), t, d);
          all.back()->start();
        }
        for (auto& s : all) t.via.wait(*s);
        for (auto& d : data) ASSERT_TRUE(is_sum(d, t.size));
      }
    });
  }
}

}  // namespace
}  // namespace headway::collectives::test
