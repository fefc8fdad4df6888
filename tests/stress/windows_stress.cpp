// Goal:   One: windows whose ranks reach each other by slots, by copies without the target's help,
//         and by packets for locks: atomics and large accumulates of concurrent origins are neither
//         lost nor done twice, large puts and gets are whole, and an exclusive lock excludes.
//         Two: the orderings that the standard promises, over packets on two rails that delay and
//         refuse them: what was flushed before the target learns of it by another channel is there;
//         accumulates of one origin to one element have their effects in the order of the calls.
//         Three: epochs that are told in memory separate accesses from those of the next epoch.
// Method: three ranks in one process, each with an engine of its own, plain memory in place of the
//         node's block, and memcpy in place of the kernel's copies; each does random operations on
//         the others, and pauses, so that targets do not poll now and then. Also run under
//         ThreadSanitizer (preset tsan), which watches the windows' memory too.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/thread_role.hpp"
#include "tests/simulation/job.hpp"
#include "tests/stress/plain_slots.hpp"
#include "tests/unit/windows/memory_of_this_process.hpp"
#include "windows/node_block.hpp"
#include "windows/window.hpp"

namespace headway::windows {
namespace {

constexpr std::uint32_t ranks = 3;
constexpr int operations = 400;
using collectives::operation;
using datatypes::number;

/// The memory of a rank.
struct exposed_words {
  static constexpr std::size_t large = 48 * 1024;  // words: several parts and pieces
  std::int64_t counter = 0;                        // changed by atomics
  std::int64_t locked = 0;                         // changed under the lock
  std::array<std::int64_t, large> sums{};          // changed by accumulates
  std::array<std::int64_t, large> written{};       // put and got under the lock
};

/// What the ranks share in place of a node's block.
struct shared_memory {
  std::array<control_line, ranks> lines;
  std::array<request_slots, ranks> slots;
  std::array<std::array<epoch_pair, ranks>, ranks> pairs;  // by reader, by writer
  std::array<std::unique_ptr<exposed_words>, ranks> words;
  node_block staged = node_block::own(ranks * staging::bytes).value();
  std::atomic<std::uint32_t> ready{0}, done{0};

  shared_memory() {
    for (auto& each : words) each = std::make_unique<exposed_words>();
  }
  [[nodiscard]] staging staging_of(std::uint32_t rank) noexcept {
    return {staged.at() + rank * staging::bytes};
  }
};

struct rank_of_window {
  rank_of_window(shared_memory& all, simulation::job& job, std::uint32_t rank, way others)
      : shared(all),
        others_by(others),
        me(rank),
        messages(job.messages(rank)),
        context(job.open(rank, 0, true)),
        random(rank + 1),
        win(parts_of()) {}

  window::parts parts_of() {
    window::parts made{.exchange = messages, .context = *context, .counts = counts};
    made.copies = &copies;
    made.wakes = &wakes;
    made.own_line = &shared.lines[me];
    made.own_slots = &shared.slots[me];
    made.own_staged = shared.staging_of(me);
    made.own_bytes = sizeof(exposed_words);
    for (std::uint32_t i = 0; i < ranks; ++i) {
      member m{.bytes = sizeof(exposed_words)};
      m.base = reinterpret_cast<std::uint64_t>(shared.words[i].get());
      m.line = &shared.lines[i];
      m.slots = &shared.slots[i];
      m.staged = shared.staging_of(i);
      m.process = rails::peer_id{i};
      m.by = i == me ? way::mapped : others_by;
      if (i == me) {
        m.mapped = reinterpret_cast<std::byte*>(m.base);
      } else {
        m.to = &shared.pairs[i][me];
        m.from = &shared.pairs[me][i];
      }
      made.members.push_back(m);
    }
    return made;
  }

  void meet(std::atomic<std::uint32_t>& at) {
    at.fetch_add(1, std::memory_order_acq_rel);  // the last one's acquire sees all
    poll_until([&] { return at.load(std::memory_order_acquire) == ranks; });
  }
  /// As a thread that waits.
  template <class Done>
  void poll_until(Done done) {
    const base::waiting_thread_scope waits;
    while (!done()) messages.engine().poll();
  }

  /// `operate` between the start of the window in all ranks and its end.
  template <class Operate>
  void run(Operate operate) {
    win.start();
    meet(shared.ready);
    operate();
    EXPECT_EQ(win.settle(), status::ok);
    meet(shared.done);
    win.stop();
  }
  void pause() {
    if (random() % 20 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
  }
  /// Writes this rank's word of another rank.
  void write_word(std::uint32_t rank, std::int64_t value) {
    pending_ptr left;
    const auto to = place_at(static_cast<int>(rank),
                             offsetof(exposed_words, written) + me * sizeof value, 1, word);
    EXPECT_EQ(win.put(words_at(&value, 1), to, left), status::ok);
  }
  void expect_words_of_others(std::int64_t value) const {
    for (std::uint32_t i = 0; i < ranks; ++i) {
      if (i == me) continue;
      ASSERT_EQ(shared.words[me]->written[i], value) << "of rank " << i;
    }
  }
  void run_random_operations() {
    run([this] {
      for (int i = 0; i < operations; ++i) operate(static_cast<int>(random() % ranks));
    });
  }

  [[nodiscard]] local_data words_at(std::int64_t* at, std::size_t count) const {
    return {reinterpret_cast<std::byte*>(at), static_cast<std::int64_t>(count), &word};
  }
  [[nodiscard]] static place place_at(int rank, std::size_t offset, std::size_t count,
                                      const datatypes::layout& type) {
    return {rank, static_cast<std::int64_t>(offset), static_cast<std::int64_t>(count), &type};
  }

  void operate(int target) {
    pending_ptr left;
    std::int64_t one = 1, before = 0;
    const change sum{operation::sum, number::int64};
    switch (random() % 8) {
      case 0:
        return std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
      case 1:
        return poll_until([this] { return random() % 100 == 0; });
      case 2: {
        std::vector<std::int64_t> ones(exposed_words::large, 1);
        const auto at = place_at(target, offsetof(exposed_words, sums), ones.size(), word);
        EXPECT_EQ(win.update(words_at(ones.data(), ones.size()), nullptr, at, sum, left),
                  status::ok);
        ++accumulates[static_cast<std::size_t>(target)];
        return;
      }
      case 3:
      case 4:
        return write_under_lock(target);
      default: {
        const auto was = words_at(&before, 1);
        const auto at = place_at(target, offsetof(exposed_words, counter), 1, word);
        EXPECT_EQ(win.update(words_at(&one, 1), &was, at, sum, left), status::ok);
        ++adds[static_cast<std::size_t>(target)];
      }
    }
  }

  void write_under_lock(int target) {
    pending_ptr left;
    ASSERT_EQ(win.lock(target, lock_type::exclusive), status::ok);
    std::int64_t value = 0;
    const auto counter = place_at(target, offsetof(exposed_words, locked), 1, word);
    EXPECT_EQ(win.get(words_at(&value, 1), counter, left), status::ok);
    std::vector<std::int64_t> all(exposed_words::large, -1);
    const auto large = place_at(target, offsetof(exposed_words, written), all.size(), word);
    EXPECT_EQ(win.get(words_at(all.data(), all.size()), large, left), status::ok);
    for (const auto each : all) ASSERT_EQ(each, value);
    ++value;
    std::ranges::fill(all, value);
    EXPECT_EQ(win.put(words_at(all.data(), all.size()), large, left), status::ok);
    EXPECT_EQ(win.put(words_at(&value, 1), counter, left), status::ok);
    ASSERT_EQ(win.unlock(target, lock_type::exclusive), status::ok);
    ++locks[static_cast<std::size_t>(target)];
  }

  shared_memory& shared;
  const way others_by;
  const std::uint32_t me;
  messages::exchange& messages;
  messages::context* const context;
  std::minstd_rand random;
  memory_of_this_process copies;
  collectives::plain_slots wakes{{}, {}};  // no rank sleeps without a limit
  statistics counts;
  const datatypes::layout& word = datatypes::layout::of(number::int64);
  std::array<std::int64_t, ranks> adds{}, accumulates{}, locks{};
  window win;
};

/// Three ranks, each in a thread, which runs `body(rank)`.
struct windows_of_threads {
  explicit windows_of_threads(way others, const simulation::job_options& options) : job(options) {
    for (std::uint32_t i = 0; i < ranks; ++i)
      all.push_back(std::make_unique<rank_of_window>(shared, job, i, others));
  }
  ~windows_of_threads() {
    for (std::uint32_t i = 0; i < ranks; ++i) job.messages(i).close_context(all[i]->context);
  }
  template <class Body>
  void run(Body body) {
    std::vector<std::jthread> threads;
    for (auto& each : all) threads.emplace_back([&each, &body] { body(*each); });
  }

  shared_memory shared;
  simulation::job job;
  std::vector<std::unique_ptr<rank_of_window>> all;
};

[[nodiscard]] simulation::job_options options(std::uint32_t rails) {
  return {.processes = ranks,
          .rails = rails,
          .time = simulation::time_source::machine,
          .points = progress::polling::automatic};
}

TEST(windows_stress, concurrent_origins_lose_nothing) {
  windows_of_threads windows(way::nearby, options(1));
  windows.run([](rank_of_window& rank) { rank.run_random_operations(); });
  for (std::size_t i = 0; i < ranks; ++i) {
    std::int64_t adds = 0, accumulates = 0, locks = 0;
    for (const auto& each : windows.all) {
      adds += each->adds[i];
      accumulates += each->accumulates[i];
      locks += each->locks[i];
    }
    const exposed_words& at = *windows.shared.words[i];
    EXPECT_EQ(at.counter, adds);
    EXPECT_EQ(at.locked, locks);
    for (const auto each : at.sums) ASSERT_EQ(each, accumulates);
    for (const auto each : at.written) ASSERT_EQ(each, locks);
  }
}

// Rank 0 puts, flushes and raises a flag; rank 1 sees the flag, and looks at its memory.
TEST(windows_stress, what_was_flushed_is_there_when_another_channel_says_so) {
  constexpr std::int64_t rounds = 60;
  windows_of_threads windows(way::wire, options(2));
  std::atomic<std::int64_t> flushed{0}, checked{0};
  const auto put_all = [&](rank_of_window& rank) {
    for (std::int64_t round = 1; round <= rounds; ++round) {
      const std::size_t count = round % 3 == 0 ? exposed_words::large : 1 + rank.random() % 2000;
      std::vector<std::int64_t> values(count, round);
      pending_ptr left;
      const auto to = rank.place_at(1, offsetof(exposed_words, written), count, rank.word);
      EXPECT_EQ(rank.win.put(rank.words_at(values.data(), count), to, left), status::ok);
      EXPECT_EQ(rank.win.flush(1), status::ok);
      rank.shared.words[1]->locked = static_cast<std::int64_t>(count);  // by the other channel, too
      flushed.store(round, std::memory_order_release);                  // (F)
      rank.poll_until([&] { return checked.load(std::memory_order_acquire) == round; });
    }
  };
  const auto check_all = [&](rank_of_window& rank) {
    const exposed_words& mine = *rank.shared.words[1];
    for (std::int64_t round = 1; round <= rounds; ++round) {
      while (flushed.load(std::memory_order_acquire) != round)
        rank.messages.engine().poll();  // (F)
      for (std::int64_t i = 0; i < mine.locked; ++i)
        EXPECT_EQ(mine.written[static_cast<std::size_t>(i)], round) << "word " << i;
      checked.store(round, std::memory_order_release);
    }
  };
  windows.run([&](rank_of_window& rank) {
    rank.run([&] {
      if (rank.me == 0) put_all(rank);
      if (rank.me == 1) check_all(rank);
    });
  });
}

// Rank 0 replaces an element by rising values, without a flush between; rank 2 reads it.
TEST(windows_stress, accumulates_to_an_element_keep_their_order) {
  constexpr std::int64_t values = 2000;
  windows_of_threads windows(way::wire, options(2));
  std::atomic<bool> over{false};
  const change replace{operation::replace, number::int64}, read{operation::no_op, number::int64};
  const auto write_all = [&](rank_of_window& rank) {
    const auto at = rank.place_at(1, offsetof(exposed_words, counter), 1, rank.word);
    for (std::int64_t value = 1; value <= values; ++value) {
      pending_ptr left;
      std::int64_t before = -1;
      const auto was = rank.words_at(&before, 1);
      const bool fetches = rank.random() % 8 == 0;
      EXPECT_EQ(
          rank.win.update(rank.words_at(&value, 1), fetches ? &was : nullptr, at, replace, left),
          status::ok);
      if (!fetches) continue;
      EXPECT_EQ(rank.win.flush(1), status::ok);
      EXPECT_EQ(before, value - 1) << "the one before it was later, or is missing";
    }
    EXPECT_EQ(rank.win.flush(1), status::ok);
    over.store(true, std::memory_order_relaxed);
  };
  const auto read_all = [&](rank_of_window& rank) {
    const auto at = rank.place_at(1, offsetof(exposed_words, counter), 1, rank.word);
    for (std::int64_t last = 0; !over.load(std::memory_order_relaxed);) {
      pending_ptr left;
      std::int64_t now = -1;
      const auto was = rank.words_at(&now, 1);
      EXPECT_EQ(rank.win.update(was, &was, at, read, left), status::ok);
      EXPECT_EQ(rank.win.flush(1), status::ok);
      EXPECT_GE(now, last);
      last = now;
    }
  };
  windows.run([&](rank_of_window& rank) {
    rank.run([&] {
      if (rank.me == 0) write_all(rank);
      if (rank.me == 2) read_all(rank);
    });
  });
  EXPECT_EQ(windows.shared.words[1]->counter, values);
}

TEST(windows_stress, fences_told_in_memory_separate_epochs) {
  windows_of_threads windows(way::nearby, options(1));
  windows.run([](rank_of_window& rank) {
    rank.run([&] {
      epoch_signals& signals = *rank.win.signals();
      ASSERT_TRUE(signals.reach_all());
      for (std::int64_t round = 1; round <= 500; ++round) {
        rank.pause();
        for (std::uint32_t i = 0; i < ranks; ++i)
          if (i != rank.me) rank.write_word(i, round);
        ASSERT_EQ(rank.win.complete_all(), status::ok);
        ASSERT_EQ(signals.meet(), status::ok);
        rank.expect_words_of_others(round);
        ASSERT_EQ(signals.meet(), status::ok);
      }
    });
  });
}

TEST(windows_stress, posts_and_completions_told_in_memory_begin_and_end_accesses) {
  windows_of_threads windows(way::nearby, options(1));
  windows.run([](rank_of_window& rank) {
    rank.run([&] {
      epoch_signals& signals = *rank.win.signals();
      const auto each_other = [&](auto act) {
        for (std::uint32_t i = 0; i < ranks; ++i)
          if (i != rank.me) act(static_cast<int>(i));
      };
      for (std::int64_t round = 1; round <= 500; ++round) {
        rank.pause();
        each_other([&](int other) { signals.expect_complete(other); });
        each_other([&](int other) { signals.tell_post(other); });
        each_other([&](int other) { signals.expect_post(other); });
        ASSERT_EQ(signals.await_posts(), status::ok);
        rank.pause();
        each_other([&](int other) {
          rank.write_word(static_cast<std::uint32_t>(other), round);
          EXPECT_EQ(rank.win.complete(other), status::ok);
          signals.tell_complete(other);
        });
        while (rank.me == 0 && !signals.has_completes()) rank.messages.engine().poll();
        ASSERT_EQ(signals.await_completes(), status::ok);
        rank.expect_words_of_others(round);
      }
    });
  });
}

}  // namespace
}  // namespace headway::windows
