#include "endpoints/wire/buffer_queue.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "endpoints/buffers/block.hpp"
#include "two_processes.hpp"

namespace headway::endpoints::buffer_queue_tests {
namespace {

using testing::two_processes;

constexpr std::size_t large = 300'000;
constexpr std::size_t memory = 16 << 20;

/// What the program of process 1 holds: all buffers for requests.
class all_requested {
 public:
  explicit all_requested(two_processes& p) : p_(p) {
    for (std::size_t bytes = std::size_t{1} << 20; bytes >= 64; bytes /= 2)
      for (void* data = nullptr; p.at(1).request(bytes, &data) == outcome::ok;)
        held_.push_back(data);
  }
  ~all_requested() {
    while (!held_.empty()) release_one();
  }
  all_requested(const all_requested&) = delete;
  all_requested& operator=(const all_requested&) = delete;
  /// The largest of those that are left.
  void release_one() {
    EXPECT_EQ(p_.at(1).release(held_.front()), outcome::ok);
    held_.erase(held_.begin());
  }

 protected:
  two_processes& p_;
  std::vector<void*> held_;
};

/// And all buffers for what arrives: of messages that it has received.
class all_memory : public all_requested {
 public:
  explicit all_memory(two_processes& p) : all_requested(p) {
    std::uint64_t used = 0;
    for (unsigned size_class = 20; size_class >= block::class_min; --size_class) {
      const auto each = layout_of(size_class);
      for (; each.align(used) + each.stride <= memory; used = each.align(used) + each.stride) {
        EXPECT_EQ(p.send(0, std::size_t{1} << size_class), outcome::ok);
        p.settle();
        message got;
        EXPECT_EQ(p.at(1).receive(p.id(), {}, no_wait, got), outcome::ok) << size_class;
        held_.push_back(got.data);
      }
    }
  }
};

struct buffer_queue_test : ::testing::Test {
  two_processes p{{.endpoint_bytes_max = memory, .window = 16}};
};

// Else nothing could be received from a process that waits for the same.
TEST_F(buffer_queue_test, messages_arrive_although_the_program_holds_all_that_it_may_request) {
  const std::vector<std::size_t> sizes{8, 100, large, 64, 2000, large / 2, 16};
  const all_requested held(p);
  for (std::uint32_t i = 0; i < sizes.size(); ++i) ASSERT_EQ(p.send(i, sizes[i]), outcome::ok);
  p.settle();
  for (std::uint32_t i = 0; i < sizes.size(); ++i) p.expect(i, sizes[i]);
}

TEST_F(buffer_queue_test, received_messages_of_one_size_leave_memory_for_another_size) {
  const all_requested held(p);
  for (std::size_t bytes = 64; bytes <= memory / 4; bytes *= 2) {
    std::vector<void*> received;
    const auto count = std::min<std::size_t>(
        memory / layout_of(static_cast<unsigned>(std::bit_width(bytes - 1))).stride, 1000);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(p.send(0, bytes), outcome::ok);
      p.settle();
      message got;
      ASSERT_EQ(p.at(1).receive(p.id(), {}, no_wait, got), outcome::ok) << bytes << ' ' << i;
      received.push_back(got.data);
    }
    while (!received.empty()) {  // every other one, then the rest
      for (std::size_t i = 0; i < received.size(); ++i) {
        EXPECT_EQ(p.at(1).release(received[i]), outcome::ok);
        received.erase(received.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

// It would be in use until there is memory for the message at its receiver, which may wait for this
// process to receive.
TEST_F(buffer_queue_test, a_large_message_that_is_sent_on_leaves_the_memory_for_arrivals_at_once) {
  std::uint32_t back = 0;
  ASSERT_EQ(p.at(0).open("", no_wait, back), outcome::ok);
  all_requested held(p);
  ASSERT_EQ(p.send(7, large), outcome::ok);
  p.settle();
  message got;
  ASSERT_EQ(p.at(1).receive(p.id(), {}, no_wait, got), outcome::ok);
  held.release_one();  // for the description of what it sends
  ASSERT_EQ(
      p.at(1).send({.to = {0, back}, .data = got.data, .bytes = large, .keep = true}, no_wait),
      outcome::ok);
  EXPECT_EQ(p.at(1).release(got.data), outcome::ok) << "no copy was sent: the send uses it";
  p.settle();
  ASSERT_EQ(p.at(0).receive(back, {}, no_wait, got), outcome::ok);
  std::uint32_t number = 0;
  std::memcpy(&number, got.data, sizeof number);
  EXPECT_EQ(number, 7u);
  EXPECT_EQ(got.bytes, large);
}

TEST_F(buffer_queue_test, messages_that_find_no_memory_arrive_in_order_when_buffers_are_released) {
  const std::vector<std::size_t> sizes{8, 100, large, 64, 2000, large / 2, 16};
  {
    const all_memory held(p);
    for (std::uint32_t i = 0; i < sizes.size(); ++i) ASSERT_EQ(p.send(i, sizes[i]), outcome::ok);
    p.settle();
    p.expect_nothing();
  }
  p.settle();
  for (std::uint32_t i = 0; i < sizes.size(); ++i) p.expect(i, sizes[i]);
  p.expect_nothing();
}

TEST_F(buffer_queue_test, a_larger_buffer_that_is_released_serves_too) {
  all_memory held(p);
  ASSERT_EQ(p.send(0, 8), outcome::ok);
  p.settle();
  held.release_one();
  p.settle();
  p.expect(0, 8);
}

TEST_F(buffer_queue_test, a_sender_whose_messages_wait_is_held_back_by_its_window) {
  std::uint32_t sent = 0;
  {
    const all_memory held(p);
    while (p.send(sent, 64) == outcome::ok) ++sent;
    EXPECT_GE(sent, 8u);
    EXPECT_LE(sent, 16u);
    p.settle();
    EXPECT_EQ(p.send(sent, 64), outcome::again);
  }
  p.settle();
  for (std::uint32_t i = 0; i < sent; ++i) p.expect(i, 64);
  p.settle();
  EXPECT_EQ(p.send(sent, 64), outcome::ok);
}

TEST_F(buffer_queue_test, credit_is_returned_though_the_receiver_holds_all_memory) {
  for (std::uint32_t i = 0; i < 16; ++i) ASSERT_EQ(p.send(i, 64), outcome::ok);
  p.settle();
  const all_requested held(p);
  for (int i = 0; i < 16; ++i) {
    message got;  // held too: nothing is released
    ASSERT_EQ(p.at(1).receive(p.id(), {}, no_wait, got), outcome::ok);
  }
  p.settle();
  EXPECT_EQ(p.send(16, 64), outcome::ok);
}

// They could not be received before it: the memory stays for what can.
TEST_F(buffer_queue_test, messages_behind_one_that_waits_take_no_memory_before_it) {
  void* small = nullptr;
  ASSERT_EQ(p.at(1).request(4000, &small), outcome::ok);
  const all_memory held(p);
  ASSERT_EQ(p.send(0, large), outcome::ok);
  p.settle();
  ASSERT_EQ(p.at(1).release(small), outcome::ok);
  ASSERT_EQ(p.send(1, 4000), outcome::ok);
  p.settle();
  EXPECT_EQ(p.at(1).request(4000, &small), outcome::ok);
}

TEST_F(buffer_queue_test, another_end_point_receives_meanwhile) {
  std::uint32_t other = 0;
  ASSERT_EQ(p.at(1).open("", no_wait, other), outcome::ok);
  void* small = nullptr;
  ASSERT_EQ(p.at(1).request(64, &small), outcome::ok);
  const all_memory held(p);
  ASSERT_EQ(p.send(0, large), outcome::ok);
  p.settle();
  ASSERT_EQ(p.at(1).release(small), outcome::ok);
  void* data = nullptr;
  ASSERT_EQ(p.at(0).request(8, &data), outcome::ok);
  ASSERT_EQ(p.at(0).send({.to = {1, other}, .data = data, .bytes = 8}, no_wait), outcome::ok);
  p.settle();
  message got;
  EXPECT_EQ(p.at(1).receive(other, {}, no_wait, got), outcome::ok);
}

TEST_F(buffer_queue_test, closing_the_end_point_frees_what_waits_for_it_and_tells_its_sender) {
  {
    const all_memory held(p);
    ASSERT_EQ(p.send(0, 64), outcome::ok);
    ASSERT_EQ(p.send(1, large), outcome::ok);
    p.settle();
    EXPECT_EQ(p.at(1).close(p.id()), outcome::ok);
    p.settle();
    EXPECT_EQ(p.send(2, 64), outcome::gone);
  }
  EXPECT_TRUE(p.job().run_until([&] { return p.job().at(0).engine().pending() == 1; }))
      << "the sender of the large message still waits";
}

TEST_F(buffer_queue_test, what_waits_when_the_job_ends_ends_with_it) {
  const all_memory held(p);
  ASSERT_EQ(p.send(0, 64), outcome::ok);
  ASSERT_EQ(p.send(1, large), outcome::ok);
  p.settle();
  p.at(1).stop();
  p.settle();
}

}  // namespace
}  // namespace headway::endpoints::buffer_queue_tests
