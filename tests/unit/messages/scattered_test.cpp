// Messages of which one end or both are not one block of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "messages/exchange.hpp"
#include "tests/simulation/job.hpp"

namespace headway::messages {
namespace {

/// Every second byte of its memory.
class every_second final : public scattered_memory {
 public:
  explicit every_second(std::size_t bytes) : memory(2 * bytes, std::byte{0xee}) {}

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return memory.size() / 2; }
  [[nodiscard]] std::span<const std::byte> pack(std::uint64_t begin,
                                                std::size_t count) noexcept override {
    EXPECT_LE(count, packed_bytes_max);
    packed.resize(count);
    for (std::size_t i = 0; i < count; ++i) packed[i] = memory[2 * (begin + i)];
    largest = std::max(largest, count);
    return packed;
  }
  void unpack(std::uint64_t begin, std::span<const std::byte> from) noexcept override {
    for (std::size_t i = 0; i < from.size(); ++i) memory[2 * (begin + i)] = from[i];
  }
  [[nodiscard]] bool gaps_are_untouched() const {
    for (std::size_t i = 1; i < memory.size(); i += 2)
      if (memory[i] != std::byte{0xee}) return false;
    return true;
  }

  std::vector<std::byte> memory, packed;
  std::size_t largest = 0;
};

std::vector<std::byte> noise(std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 7 + i / 251);
  return made;
}

/// An end of a message: a block, or scattered.
struct end {
  end(bool is_scattered, std::size_t bytes) : scattered(bytes), block(bytes), used(is_scattered) {}

  void fill(const std::vector<std::byte>& data) {
    if (used) scattered.unpack(0, data);
    else block = data;
  }
  [[nodiscard]] std::vector<std::byte> first(std::size_t count) {
    if (!used) return {block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count)};
    std::vector<std::byte> got(count);
    for (std::size_t i = 0; i < count; ++i) got[i] = scattered.memory[2 * i];
    return got;
  }

  every_second scattered;
  std::vector<std::byte> block;
  bool used;
};

using parameters = std::tuple<std::uint32_t, std::uint32_t>;  // seed, rails

struct scattered_test : testing::TestWithParam<parameters> {
  scattered_test()
      : job({.processes = 2, .rails = std::get<1>(GetParam()), .seed = std::get<0>(GetParam())}) {
    for (std::size_t i = 0; i < 2; ++i) world[i] = job.open(i, 0);
  }
  ~scattered_test() override {
    for (std::size_t i = 0; i < 2; ++i) job.messages(i).close_context(world[i]);
  }
  void send(end& from, request& r, send_mode mode = send_mode::standard) {
    if (from.used) job.messages(0).send(*world[0], r, from.scattered, 1, 3, mode);
    else job.messages(0).send(*world[0], r, from.block, 1, 3, mode);
  }
  void receive(end& into, request& r) {
    if (into.used) job.messages(1).receive(*world[1], r, into.scattered, 0, 3);
    else job.messages(1).receive(*world[1], r, std::span(into.block), 0, 3);
  }
  bool until_done(const request& s, const request& r) {
    return job.run_until([&] { return s.test() && r.test(); });
  }
  simulation::job job;
  context* world[2];
};

constexpr std::size_t sizes[] = {0, 1, 100, 2000, 5000, 20'000, 300'000};

TEST_P(scattered_test, arrives_whole_whichever_end_is_scattered) {
  for (const std::size_t bytes : sizes) {
    for (const int which : {1, 2, 3}) {
      for (const bool early : {true, false}) {
        SCOPED_TRACE(testing::Message() << bytes << " bytes, " << which << ", early " << early);
        const auto data = noise(bytes);
        end from((which & 1) != 0, bytes), into((which & 2) != 0, bytes + 5);
        from.fill(data);
        request s, r;
        if (early) receive(into, r);
        send(from, s, bytes % 3 == 0 ? send_mode::standard : send_mode::synchronous);
        if (!early) {
          job.settle();
          receive(into, r);
        }
        ASSERT_TRUE(until_done(s, r));
        EXPECT_EQ(r.arrived.how, outcome::ok);
        EXPECT_EQ(r.arrived.bytes, bytes);
        EXPECT_TRUE(into.first(bytes) == data);
        EXPECT_TRUE(into.scattered.gaps_are_untouched());
      }
    }
  }
}

TEST_P(scattered_test, packs_no_more_than_half_a_packet_at_once_of_a_large_message) {
  end from(true, 300'000), into(true, 300'000);
  request s, r;
  receive(into, r);
  send(from, s);
  ASSERT_TRUE(until_done(s, r));
  EXPECT_LE(from.scattered.largest, scattered_memory::packed_bytes_max / 2);
}

TEST_P(scattered_test, is_cut_where_the_memory_ends) {
  for (const std::size_t bytes : {200u, 20'000u}) {
    for (const int which : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, " << which);
      const auto data = noise(bytes);
      end from((which & 1) != 0, bytes), into((which & 2) != 0, bytes - 99);
      from.fill(data);
      request s, r;
      receive(into, r);
      send(from, s);
      ASSERT_TRUE(until_done(s, r));
      EXPECT_EQ(r.arrived.how, outcome::truncated);
      EXPECT_EQ(r.arrived.bytes, bytes - 99);
      EXPECT_TRUE(std::ranges::equal(into.first(bytes - 99), std::span(data).first(bytes - 99)));
      EXPECT_TRUE(into.scattered.gaps_are_untouched());
    }
  }
}

TEST_P(scattered_test, is_taken_by_a_matched_probe) {
  for (const std::size_t bytes : {200u, 20'000u}) {
    const auto data = noise(bytes);
    end from(true, bytes), into(true, bytes);
    from.fill(data);
    request s, r;
    send(from, s);
    job.settle();
    arrival found;
    unexpected_message* const message = job.messages(1).probe_matched(*world[1], 0, 3, found);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(found.bytes, bytes);
    job.messages(1).receive_unexpected(*world[1], r, message, into.scattered);
    ASSERT_TRUE(until_done(s, r));
    EXPECT_TRUE(into.first(bytes) == data);
  }
}

TEST_P(scattered_test, leaves_without_credits_as_a_request_to_send) {
  constexpr std::size_t count = 1500, bytes = 1000;  // more than the receiver stores for one peer
  const auto data = noise(bytes);
  std::vector<std::unique_ptr<end>> ends;
  std::vector<std::unique_ptr<request>> requests;
  for (std::size_t i = 0; i < count; ++i) {
    ends.push_back(std::make_unique<end>(true, bytes));
    ends.back()->fill(data);
    requests.push_back(std::make_unique<request>());
    send(*ends.back(), *requests.back());
  }
  job.settle();
  for (std::size_t i = 0; i < count; ++i) {
    end into(true, bytes);
    request r;
    receive(into, r);
    ASSERT_TRUE(until_done(*requests[i], r));
    ASSERT_TRUE(into.first(bytes) == data);
  }
}

TEST_P(scattered_test, ends_when_the_other_end_is_lost_between_two_pieces) {
  for (const std::size_t lost : {0u, 1u}) {
    every_second from(300'000), into(300'000);
    from.unpack(0, noise(300'000));
    request s, r;
    simulation::job own(
        {.processes = 2, .rails = std::get<1>(GetParam()), .seed = std::get<0>(GetParam())});
    context* open[2] = {own.open(0, 0), own.open(1, 0)};
    own.messages(1).receive(*open[1], r, into, 0, 3);
    own.messages(0).send(*open[0], s, from, 1, 3);
    ASSERT_TRUE(own.run_until([&] { return into.memory[0] != std::byte{0xee}; }));
    own.kill(lost);  // some pieces have arrived
    const request& left = lost == 0 ? r : s;
    ASSERT_TRUE(own.run_until([&] { return left.test(); }));
    EXPECT_EQ(left.arrived.how, outcome::peer_lost);
    for (std::size_t i = 0; i < 2; ++i) own.messages(i).close_context(open[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(seeds_and_rails, scattered_test,
                         testing::Combine(testing::Range(1u, 5u), testing::Values(1u, 2u)));

}  // namespace
}  // namespace headway::messages
