#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "rails/tcp/output.hpp"

namespace headway::rails::tcp::tcp_output_tests {
namespace {

std::vector<std::byte> bytes(std::size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

/// Nothing is acknowledged.
std::optional<std::size_t> no_answer(int) { return std::nullopt; }

/// Of a connection that is not resumed.
sent_log& closed_log() {
  static sent_log log(&no_answer);
  return log;
}

/// Takes up to `most` bytes out of the queue, as a socket would. Returns the freed cookies.
std::vector<std::uint64_t> drain(output& out, std::vector<std::byte>& wire, std::size_t most,
                                 sent_log& log = closed_log()) {
  std::array<iovec, output::vectors_max> vectors;
  const auto count = out.gather(vectors);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < count && taken < most; ++i) {
    const auto part = std::min(most - taken, vectors[i].iov_len);
    const auto* from = static_cast<const std::byte*>(vectors[i].iov_base);
    wire.insert(wire.end(), from, from + part);
    taken += part;
  }
  std::array<std::uint64_t, output::vectors_max> cookies;
  const auto freed = out.advance(taken, cookies, log);
  return {cookies.begin(), cookies.begin() + static_cast<std::ptrdiff_t>(freed)};
}

struct seen {
  frame f;
  std::vector<std::byte> content;
};

/// Reads the stream back; fails the test on anything that is no frame.
std::vector<seen> frames_of(const std::vector<std::byte>& wire) {
  std::vector<seen> all;
  for (std::size_t at = 0; at < wire.size();) {
    const auto f = decode(std::span<const std::byte, frame_bytes>(&wire[at], frame_bytes));
    EXPECT_TRUE(f);
    if (!f) return all;
    at += frame_bytes;
    const std::size_t count = std::size_t{f->header_bytes} + f->payload_bytes;
    all.push_back({*f, {&wire[at], &wire[at] + count}});
    at += count + padding_of(count);
  }
  return all;
}

TEST(tcp_output, copied_packets_that_wait_leave_in_one_vector) {
  output out(4096);
  const auto payload = bytes(13, 1);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(out.take_plain({.payload = payload}, 0, true));
  std::array<iovec, output::vectors_max> vectors;
  EXPECT_EQ(out.gather(vectors), 1u);
}

TEST(tcp_output, goes_on_where_a_packet_was_cut_by_the_first_write) {
  const auto payload = bytes(1000, 7);
  for (const bool copy : {true, false})
    for (const std::size_t sent : {1u, 23u, 24u, 25u, 500u, 1023u}) {
      output out(4096);
      ASSERT_TRUE(out.take_plain({.payload = payload, .cookie = 5}, sent, copy));
      std::vector<std::byte> wire(sent);
      const auto freed = drain(out, wire, SIZE_MAX);
      EXPECT_EQ(wire.size(), frame_bytes + payload.size());
      EXPECT_EQ(freed.size(), copy ? 0u : 1u);
      EXPECT_TRUE(out.empty());
    }
}

TEST(tcp_output, a_short_packet_passes_between_two_segments_of_a_long_payload) {
  output out(4096);
  const auto large = bytes(10'000, 1);
  const auto small = bytes(10, 2);
  ASSERT_TRUE(out.take_piece(1, 0, {.bytes = large, .cookie = 1}));
  std::vector<std::byte> wire;
  EXPECT_TRUE(drain(out, wire, 100).empty());  // the first segment has begun
  ASSERT_TRUE(out.take_plain({.payload = small}, 0, true));
  std::vector<std::uint64_t> freed;
  while (!out.empty())
    for (const auto cookie : drain(out, wire, 5000)) freed.push_back(cookie);
  EXPECT_EQ(freed, std::vector<std::uint64_t>{1});
  const auto all = frames_of(wire);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].f.kind, frame_kind::piece);
  EXPECT_TRUE(all[0].f.more);
  EXPECT_EQ(all[1].f.kind, frame_kind::plain);
  EXPECT_EQ(all[2].f.offset, 4096u);
  EXPECT_FALSE(all[3].f.more);
}

TEST(tcp_output, whatever_the_socket_takes_every_byte_leaves_once_and_in_order) {
  std::mt19937 random(11);
  output out(5000);
  std::vector<std::vector<std::byte>> payloads;
  payloads.reserve(3000);  // they stay where they are
  std::vector<std::byte> wire;
  std::size_t posted = 0;
  std::size_t freed = 0;
  int plain_taken = 0;
  std::uint64_t piece_bytes = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto size = random() % (random() % 10 == 0 ? 60'000 : 300) + 1;
    payloads.push_back(bytes(size, plain_taken % 251));
    const auto kind = random() % 3;
    if (kind == 2 && out.take_piece(1, 0, {.bytes = payloads.back(), .cookie = 0})) {
      ++posted;
      piece_bytes += size;
    } else if (kind < 2 && out.take_plain({.payload = payloads.back()}, 0, kind == 0)) {
      ++plain_taken;
      posted += kind;
    }
    if (random() % 2) freed += drain(out, wire, random() % 50'000).size();
  }
  while (!out.empty()) freed += drain(out, wire, 100'000).size();
  EXPECT_EQ(freed, posted);
  int plain_seen = 0;
  for (const auto& s : frames_of(wire)) {
    if (s.f.kind == frame_kind::piece) {
      piece_bytes -= s.content.size();
    } else {
      ASSERT_EQ(s.content.front(), static_cast<std::byte>(plain_seen++ % 251));
    }
  }
  EXPECT_EQ(plain_seen, plain_taken);
  EXPECT_EQ(piece_bytes, 0u);
}

TEST(tcp_output, what_has_left_can_be_sent_again_in_the_same_order) {
  std::mt19937 random(3);
  const sent_log::receipts told;
  sent_log log(&no_answer);
  log.open();
  log.begin(0, told, sent_log::source::kernel);
  output out(5000);
  std::vector<std::byte> wire;
  std::vector<std::vector<std::byte>> payloads(200);
  std::size_t freed = 0;
  for (auto& p : payloads) {
    p = bytes(random() % 20'000 + 1, static_cast<int>(random() % 251));
    ASSERT_TRUE(random() % 2 ? out.take_piece(1, 0, {.bytes = p, .cookie = 0})
                             : out.take_plain({.payload = p}, 0, random() % 2));
    freed += drain(out, wire, random() % 50'000, log).size();
  }
  while (!out.empty()) freed += drain(out, wire, 100'000, log).size();
  for (auto& p : payloads) std::ranges::fill(p, std::byte{0xff});  // all were given back
  ASSERT_TRUE(log.rewind(0));
  std::vector<std::byte> again;
  while (log.rewound()) {
    std::array<iovec, 4> vectors;
    const auto count = log.gather(vectors);
    for (const auto& v : std::span(vectors).first(count)) {
      const auto* from = static_cast<const std::byte*>(v.iov_base);
      again.insert(again.end(), from, from + v.iov_len);
      log.advance(v.iov_len);
    }
  }
  EXPECT_EQ(again, wire);
  EXPECT_GT(freed, 50u);
}

TEST(tcp_output, a_large_payload_comes_back_late_while_another_waits_and_at_once_if_none_does) {
  const sent_log::receipts told;
  sent_log log(&no_answer);
  log.open();
  log.begin(0, told, sent_log::source::kernel);
  output out(1 << 20);
  const auto large = bytes(1 << 20, 1);
  ASSERT_TRUE(out.take_piece(1, 0, {.bytes = large, .cookie = 1}));
  ASSERT_TRUE(out.take_piece(1, 0, {.bytes = large, .cookie = 2}));
  std::vector<std::byte> wire;
  EXPECT_TRUE(drain(out, wire, SIZE_MAX, log).empty());
  EXPECT_EQ(drain(out, wire, SIZE_MAX, log), (std::vector<std::uint64_t>{1, 2}));
}

TEST(tcp_output, a_full_queue_takes_nothing_and_goes_on_after_a_write) {
  output out(4096);
  const auto payload = bytes(8000, 3);
  int taken = 0;
  while (out.take_plain({.payload = payload}, 0, true)) ++taken;
  EXPECT_GT(taken, 10);
  std::vector<std::byte> wire;
  (void)drain(out, wire, 20'000);
  EXPECT_TRUE(out.take_plain({.payload = payload}, 0, true));
  while (!out.empty()) (void)drain(out, wire, SIZE_MAX);
  EXPECT_EQ(frames_of(wire).size(), static_cast<std::size_t>(taken) + 1);
}

TEST(tcp_output, counts_the_bytes_of_packets_that_are_not_copied_until_they_have_left) {
  output out(4096);
  const auto payload = bytes(10'000, 3);
  EXPECT_EQ(out.posted_bytes(), 0u);
  for (std::uint64_t i = 1; i <= 3; ++i)
    ASSERT_TRUE(out.take_plain({.payload = payload, .cookie = i}, 0, false));
  ASSERT_TRUE(out.take_plain({.payload = payload, .cookie = 4}, 0, true));
  EXPECT_EQ(out.posted_bytes(), 30'000u);
  std::vector<std::byte> wire;
  EXPECT_EQ(drain(out, wire, 12'000), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(out.posted_bytes(), 20'000u);
  EXPECT_EQ(out.drop(), 2u);
  EXPECT_EQ(out.posted_bytes(), 10'000u);
  out.clear();
  EXPECT_EQ(out.posted_bytes(), 0u);
}

TEST(tcp_output, after_a_loss_every_posted_cookie_comes_back_once) {
  output out(4096);
  const auto payload = bytes(10'000, 3);
  ASSERT_TRUE(out.take_piece(1, 0, {.bytes = payload, .cookie = 1}));
  std::vector<std::byte> wire;
  (void)drain(out, wire, 100);
  ASSERT_TRUE(out.take_plain({.payload = payload, .cookie = 2}, 0, false));
  ASSERT_TRUE(out.take_plain({.payload = payload, .cookie = 99}, 0, true));
  ASSERT_TRUE(out.take_piece(1, 0, {.bytes = payload, .cookie = 3}));
  std::vector<std::uint64_t> dropped;
  while (const auto cookie = out.drop()) dropped.push_back(*cookie);
  std::ranges::sort(dropped);
  EXPECT_EQ(dropped, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(tcp_output, an_answer_leaves_whole_and_has_no_cookie) {
  output out(4096);
  const auto answer = bytes(10'000, 3);
  for (int round = 0; round < 2; ++round) {
    auto own = std::make_unique<std::byte[]>(answer.size());
    std::ranges::copy(answer, own.get());
    ASSERT_TRUE(out.take_answer(7, 100, std::move(own), answer.size()));
  }
  std::vector<std::byte> wire;
  for (int segment = 0; segment < 2; ++segment) EXPECT_TRUE(drain(out, wire, SIZE_MAX).empty());
  EXPECT_EQ(frames_of(wire)[1].f.offset, 100u + 4096u);
  EXPECT_FALSE(out.drop()) << "what is left has no cookie either";
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace headway::rails::tcp::tcp_output_tests
