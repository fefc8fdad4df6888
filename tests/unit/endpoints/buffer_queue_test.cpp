#include "endpoints/wire/buffer_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "two_processes.hpp"

namespace headway::endpoints::buffer_queue_tests {
namespace {

using testing::two_processes;

constexpr std::size_t large = 300'000;

/// What a program holds of its buffers: all that there are.
class all_memory {
 public:
  explicit all_memory(service& of) : of_(of) {
    for (std::size_t bytes = std::size_t{1} << 20; bytes >= 64; bytes /= 2)
      for (void* data = nullptr; of.request(bytes, &data) == outcome::ok;) held_.push_back(data);
  }
  ~all_memory() {
    while (!held_.empty()) release_one();
  }
  all_memory(const all_memory&) = delete;
  all_memory& operator=(const all_memory&) = delete;
  /// The largest of those that are left.
  void release_one() {
    EXPECT_EQ(of_.release(held_.front()), outcome::ok);
    held_.erase(held_.begin());
  }

 private:
  service& of_;
  std::vector<void*> held_;
};

struct buffer_queue_test : ::testing::Test {
  two_processes p{{.endpoint_bytes_max = 16 << 20, .window = 16}};
};

TEST_F(buffer_queue_test, messages_that_find_no_memory_arrive_in_order_when_buffers_are_released) {
  const std::vector<std::size_t> sizes{8, 100, large, 64, 2000, large / 2, 16};
  {
    const all_memory held(p.at(1));
    for (std::uint32_t i = 0; i < sizes.size(); ++i) ASSERT_EQ(p.send(i, sizes[i]), outcome::ok);
    p.settle();
    p.expect_nothing();
  }
  p.settle();
  for (std::uint32_t i = 0; i < sizes.size(); ++i) p.expect(i, sizes[i]);
  p.expect_nothing();
}

TEST_F(buffer_queue_test, a_larger_buffer_that_is_released_serves_too) {
  all_memory held(p.at(1));
  ASSERT_EQ(p.send(0, 8), outcome::ok);
  p.settle();
  held.release_one();
  p.settle();
  p.expect(0, 8);
}

TEST_F(buffer_queue_test, a_sender_whose_messages_wait_is_held_back_by_its_window) {
  {
    const all_memory held(p.at(1));
    std::uint32_t sent = 0;
    while (p.send(sent, 64) == outcome::ok) ++sent;
    EXPECT_EQ(sent, 16u);
    p.settle();
    EXPECT_EQ(p.send(sent, 64), outcome::again);
  }
  p.settle();
  for (std::uint32_t i = 0; i < 16; ++i) p.expect(i, 64);
  p.settle();
  EXPECT_EQ(p.send(16, 64), outcome::ok);
}

TEST_F(buffer_queue_test, credit_is_returned_though_the_receiver_holds_all_memory) {
  for (std::uint32_t i = 0; i < 16; ++i) ASSERT_EQ(p.send(i, 64), outcome::ok);
  p.settle();
  const all_memory held(p.at(1));
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
  const all_memory held(p.at(1));
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
  const all_memory held(p.at(1));
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
    const all_memory held(p.at(1));
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
  const all_memory held(p.at(1));
  ASSERT_EQ(p.send(0, 64), outcome::ok);
  ASSERT_EQ(p.send(1, large), outcome::ok);
  p.settle();
  p.at(1).stop();
  p.settle();
}

}  // namespace
}  // namespace headway::endpoints::buffer_queue_tests
