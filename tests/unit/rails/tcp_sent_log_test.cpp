// What a connection keeps to be sent again, against a copy of everything that was ever sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "rails/tcp/sent_log.hpp"
#include "tests/random_bytes.hpp"

namespace headway::rails::tcp::tcp_sent_log_tests {
namespace {

/// A connection whose kernel says how far the peer's has got; nothing: it does not say.
const sent_log* asked_for = nullptr;
std::optional<std::uint64_t> acknowledged;
int questions = 0;
std::optional<std::size_t> ask(int) {
  ++questions;
  if (!acknowledged) return std::nullopt;
  return static_cast<std::size_t>(asked_for->end() - *acknowledged);
}

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::vector<std::byte> made(count);
  headway::testing::fill_at_random(made, seed);
  return made;
}

struct tcp_sent_log : ::testing::Test {
  tcp_sent_log() {
    asked_for = &log;
    acknowledged.reset();
    questions = 0;
    told.has_sent = true;
    log.open();
    log.begin(0, told, sent_log::source::kernel);
  }

  void add(std::size_t count) {
    const auto more = random_bytes(count, ++seed);
    log.add(more);
    all.insert(all.end(), more.begin(), more.end());
  }
  void borrow(std::size_t count) { log.borrow(more(borrowed, count)); }
  void give_back() {
    log.give_back();
    change(borrowed);
  }
  void lend(std::size_t count) { log.lend(more(lent, count)); }
  void reclaim() {
    log.reclaim();
    change(lent);
  }
  /// All that is sent again from `received` on, in parts of up to `most` bytes.
  std::vector<std::byte> again(std::size_t received, std::size_t most = SIZE_MAX) {
    std::vector<std::byte> got;
    EXPECT_TRUE(log.rewind(received));
    while (log.rewound()) {
      std::array<iovec, 3> vectors;
      std::size_t taken = 0;
      const auto count = log.gather(vectors);
      for (std::size_t i = 0; i < count && taken < most; ++i) {
        const auto part = std::min(most - taken, vectors[i].iov_len);
        const auto* from = static_cast<const std::byte*>(vectors[i].iov_base);
        got.insert(got.end(), from, from + part);
        taken += part;
      }
      if (taken == 0) break;
      log.advance(taken);
    }
    return got;
  }
  [[nodiscard]] std::vector<std::byte> sent_since(std::size_t received) const {
    return {all.begin() + static_cast<std::ptrdiff_t>(received), all.end()};
  }

  using payloads = std::deque<std::vector<std::byte>>;
  std::span<const std::byte> more(payloads& of, std::size_t count) {
    const auto& made = of.emplace_back(random_bytes(count, ++seed));
    all.insert(all.end(), made.begin(), made.end());
    return made;
  }
  /// Their owner has them again.
  static void change(payloads& of) {
    for (auto& one : of) std::ranges::fill(one, std::byte{0xee});
  }

  sent_log::receipts told;
  sent_log log{&ask};
  std::vector<std::byte> all;
  payloads borrowed, lent;
  unsigned seed = 0;
};

TEST_F(tcp_sent_log, sends_again_what_the_peer_has_not_received_and_nothing_else) {
  add(100);
  borrow(200'000);
  add(7);
  EXPECT_EQ(again(50), sent_since(50));
  EXPECT_EQ(again(60'000, 777), sent_since(60'000));
  EXPECT_TRUE(again(all.size()).empty());
}

TEST_F(tcp_sent_log, what_was_borrowed_is_copied_before_its_owner_gets_it_back) {
  add(24);
  borrow(300'000);
  give_back();
  EXPECT_EQ(again(10), sent_since(10));
}

TEST_F(tcp_sent_log, what_the_peers_kernel_has_is_forgotten_and_not_copied) {
  borrow(300'000);
  acknowledged = all.size();
  EXPECT_EQ(log.borrowed(), 0u);
  EXPECT_FALSE(log.rewind(all.size() - 1));
  borrow(200'000);
  acknowledged = 400'000;
  EXPECT_GE(log.borrowed(), 100'000u);
  EXPECT_LE(log.borrowed(), 100'000 + sent_log::block_bytes);
}

TEST_F(tcp_sent_log, what_was_lent_is_copied_before_its_owner_gets_it_back) {
  add(24);
  lend(300'000);
  add(3);
  lend(5'000);
  EXPECT_EQ(again(10, 7'777), sent_since(10));
  reclaim();
  EXPECT_EQ(again(11), sent_since(11));
}

TEST_F(tcp_sent_log, of_much_that_was_lent_what_the_peers_kernel_has_is_not_copied) {
  lend(sent_log::copied_unasked);  // at once
  for (int i = 0; i < 64; ++i) lend(4'000);
  EXPECT_EQ(questions, 0) << "while it is lent";
  acknowledged = all.size() - 4'000;
  reclaim();
  EXPECT_EQ(questions, 1);
  EXPECT_EQ(log.oldest(), *acknowledged);
  EXPECT_EQ(again(*acknowledged), sent_since(*acknowledged));
}

TEST_F(tcp_sent_log, little_that_was_lent_is_copied_without_a_question) {
  lend(sent_log::copied_unasked);
  change(lent);  // it is copied already
  lend(sent_log::copied_unasked);
  acknowledged = all.size();
  reclaim();
  EXPECT_EQ(questions, 0);
  EXPECT_EQ(again(0), sent_since(0));
}

TEST_F(tcp_sent_log, what_is_borrowed_stays_so_when_what_is_lent_is_reclaimed) {
  borrow(60'000);
  lend(60'000);
  acknowledged = 0;
  reclaim();
  EXPECT_EQ(log.borrowed(), 60'000u);
  EXPECT_EQ(again(0), sent_since(0));
}

TEST_F(tcp_sent_log, a_connection_that_is_closed_is_not_asked) {
  lend(300'000);
  acknowledged = all.size();
  log.end_connection();
  reclaim();
  EXPECT_EQ(questions, 0);
  EXPECT_EQ(again(0), sent_since(0));
}

TEST_F(tcp_sent_log, many_lent_payloads_leave_room_for_what_is_copied) {
  acknowledged = 0;
  for (std::size_t i = 0; i < 2 * sent_log::ranges_max; ++i) {
    add(24);
    lend(sent_log::lent_min);
  }
  EXPECT_EQ(log.oldest(), 0u) << "nothing is forgotten";
  EXPECT_LE(questions, static_cast<int>(all.size() / sent_log::block_bytes) + 1);
  reclaim();
  EXPECT_EQ(again(0), sent_since(0));
}

TEST_F(tcp_sent_log, keeps_what_was_written_from_its_own_memory_without_a_copy) {
  const auto packet = random_bytes(1'000, 1);
  for (int i = 0; i < 200; ++i) {
    auto* const at = log.place(packet.size());
    ASSERT_NE(at, nullptr);
    std::ranges::copy(packet, at);
    const auto taken = i % 3 == 0 ? packet.size() : packet.size() / 2;
    log.add_placed(taken);
    all.insert(all.end(), packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(taken));
  }
  EXPECT_EQ(again(99), sent_since(99));
}

TEST_F(tcp_sent_log, nothing_is_forgotten_while_the_other_end_has_sent_nothing) {
  told.has_sent = false;
  borrow(300'000);
  acknowledged = all.size();
  give_back();
  EXPECT_EQ(log.oldest(), 0u);
  EXPECT_EQ(again(0), sent_since(0));
}

TEST_F(tcp_sent_log, nothing_is_forgotten_while_the_kernel_does_not_answer) {
  borrow(300'000);
  give_back();
  EXPECT_EQ(again(0), sent_since(0));
}

TEST_F(tcp_sent_log, of_an_encrypted_connection_only_the_peers_word_counts) {
  log.begin(0, told, sent_log::source::peer);
  borrow(300'000);
  acknowledged = all.size();
  told.received = 100'000;
  give_back();
  EXPECT_EQ(log.oldest(), 100'000u);
  EXPECT_EQ(again(100'000), sent_since(100'000));
  told.received = UINT64_MAX;
  give_back();
  EXPECT_EQ(log.oldest(), all.size());
}

TEST_F(tcp_sent_log, refuses_a_peer_that_lacks_what_is_forgotten_or_has_what_was_never_sent) {
  add(10'000);
  borrow(1);
  acknowledged = 5'000;
  give_back();
  EXPECT_FALSE(log.rewind(4'999));
  EXPECT_FALSE(log.rewind(all.size() + 1));
  EXPECT_EQ(again(5'000), sent_since(5'000));
}

TEST_F(tcp_sent_log, is_bounded_and_says_what_it_has_forgotten) {
  constexpr std::size_t most = sent_log::ranges_max * sent_log::block_bytes;
  while (all.size() < 2 * most) add(100'000);
  EXPECT_LE(log.end() - log.oldest(), most);
  EXPECT_GE(log.end() - log.oldest(), most / 2);
  EXPECT_FALSE(log.rewind(log.oldest() - 1));
  EXPECT_EQ(again(log.oldest()), sent_since(log.oldest()));
}

TEST_F(tcp_sent_log, what_is_copied_stays_whole_when_all_before_it_is_forgotten) {
  for (std::size_t i = 0; i < sent_log::ranges_max / 2; ++i) {
    add(40);
    borrow(10'000);
  }
  acknowledged = all.size();
  add(100);  // no range is free: all are forgotten
  const auto known = all.size() - 100;
  EXPECT_EQ(log.oldest(), known);
  add(30'000);
  EXPECT_EQ(again(known), sent_since(known));
}

TEST_F(tcp_sent_log, a_closed_one_keeps_nothing) {
  add(100);
  log.close();
  log.add(random_bytes(100, 1));
  log.borrow(random_bytes(100, 2));
  log.lend(random_bytes(5'000, 3));
  log.reclaim();
  EXPECT_EQ(log.place(100), nullptr);
  EXPECT_EQ(log.end(), 100u);
  EXPECT_FALSE(log.rewind(0));
  EXPECT_FALSE(log.rewound());
}

TEST_F(tcp_sent_log, any_order_of_sending_acknowledging_and_sending_again) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return std::size_t{random()} % (n + 1); };
  std::size_t known = 0;
  acknowledged = known;
  for (int step = 0; step < 6000; ++step) {
    const auto oldest = std::max<std::size_t>(known, log.oldest());
    switch (below(20)) {
      case 0:
        borrow(below(150'000));
        break;
      case 1:
        known = oldest + below(all.size() - oldest);
        acknowledged = known;
        break;
      case 2:
        give_back();
        break;
      case 4:
      case 5:
        lend(below(30'000));
        break;
      case 6:
        reclaim();
        break;
      case 3:
        known = oldest + below(all.size() - oldest);
        ASSERT_EQ(again(known, 1 + below(200'000)), sent_since(known)) << step;
        acknowledged = known;
        break;
      default:
        add(below(300));
    }
    ASSERT_LE(log.oldest(), known) << step;
    if (all.size() > 4'000'000) break;  // far from its bound
  }
}

}  // namespace
}  // namespace headway::rails::tcp::tcp_sent_log_tests
