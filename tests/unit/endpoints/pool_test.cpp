#include "endpoints/buffers/pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace headway::endpoints::pool_tests {
namespace {

constexpr std::uint64_t job = 7;

std::unique_ptr<pool> make_pool(std::uint32_t process = 0, bool checks = false,
                                std::uint64_t of_job = job) {
  auto made = std::make_unique<pool>(headway::endpoints::pool_options{
      .process = process, .job = of_job, .bytes_max = 64 << 20, .checks = checks});
  EXPECT_TRUE(made->open());
  return made;
}

/// The receiver's address of `data`, which one pool sent.
void* hand_over(pool& from, pool& to, void* data, bool keep) {
  const auto f = from.find(data);
  EXPECT_EQ(from.send(f, keep), wrong::none);
  const bool lent = keep || f.lent;
  if (&to != &from) ownership::note_destination(*f.header, lent, to.process());
  block* seen = to.region_of(f.header->owner)->checked(f.header->place, 1);
  EXPECT_NE(seen, nullptr);
  to.receive(*seen, lent);
  return to.address_of(*seen, lent);
}

TEST(pool, gives_blocks_of_the_size_on_a_cache_line_and_on_a_page_when_large) {
  auto p = make_pool();
  for (const std::size_t bytes : {0u, 1u, 64u, 65u, 4096u, 65536u, 1u << 20}) {
    block* b = p->request(bytes);
    ASSERT_NE(b, nullptr);
    EXPECT_GE(b->capacity(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b->data()) % 64, 0u);
    if (bytes >= 65536) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b->data()) % 4096, 0u);
    }
    std::memset(b->data(), 1, b->capacity());
    EXPECT_EQ(p->release(b->data()), wrong::none);
  }
}

TEST(pool, gives_the_same_memory_again_instead_of_more) {
  auto p = make_pool();
  EXPECT_EQ(p->release(p->request(100'000)->data()), wrong::none);
  const auto taken = p->bytes_taken();
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(p->release(p->request(100'000)->data()), wrong::none);
  EXPECT_EQ(p->bytes_taken(), taken);
}

TEST(pool, refuses_a_request_when_memory_is_used_up_until_some_is_released) {
  auto p = make_pool();
  std::vector<block*> all;
  while (block* b = p->request(8 << 20)) all.push_back(b);
  EXPECT_EQ(all.size(), 7u);
  EXPECT_EQ(p->release(all[3]->data()), wrong::none);
  EXPECT_NE(p->request(8 << 20), nullptr);
  EXPECT_EQ(p->request(std::size_t{1} << 40), nullptr);
}

/// All that the program may request, in buffers of 8 MiB.
std::vector<block*> request_all(pool& p) {
  std::vector<block*> all;
  while (block* b = p.request(8 << 20)) all.push_back(b);
  return all;
}

TEST(pool, has_memory_for_arrivals_that_requests_cannot_take) {
  auto p = make_pool();
  request_all(*p);
  std::vector<block*> arrived;
  while (block* b = p->request_for_arrival(8 << 20)) {
    EXPECT_TRUE(p->is_for_arrivals(*b));
    std::memset(b->data(), 1, b->capacity());
    arrived.push_back(b);
  }
  EXPECT_EQ(arrived.size(), 7u);
  for (block* b : arrived) EXPECT_EQ(p->release(b->data()), wrong::none);
  EXPECT_EQ(p->release(arrived[0]->data()), wrong::released);
  EXPECT_EQ(p->request(8 << 20), nullptr);
  EXPECT_NE(p->request_for_arrival(p->arrival_bytes_max()), nullptr) << "the ranges are one again";
  EXPECT_EQ(p->request_for_arrival(2 * p->arrival_bytes_max()), nullptr);
}

TEST(pool, memory_for_arrivals_comes_back_from_another_process_alive_or_dead) {
  auto one = make_pool(0);
  auto two = make_pool(1);
  ASSERT_TRUE(one->open());
  ASSERT_TRUE(two->map(one->region_of(0)->offer()));
  request_all(*one);
  for (int i = 0; i < 20; ++i) {
    block* b = one->request_for_arrival(one->arrival_bytes_max());
    ASSERT_NE(b, nullptr) << i;
    void* received = hand_over(*one, *two, b->data(), false);
    EXPECT_TRUE(two->is_for_arrivals(*two->find(received).header));
    if (i % 2 == 0) {
      EXPECT_EQ(two->release(received), wrong::none);
    } else {
      one->reclaim(1);
    }
  }
}

TEST(pool, names_a_second_release) {
  auto p = make_pool();
  void* data = p->request(10)->data();
  EXPECT_EQ(p->release(data), wrong::none);
  EXPECT_EQ(p->release(data), wrong::released);
  EXPECT_EQ(p->release_later(data), wrong::released);
  bool idle = false;
  EXPECT_EQ(p->probe(data, idle), wrong::released);
  EXPECT_EQ(p->send(p->find(data), false), wrong::released);
}

TEST(pool, names_an_address_without_a_buffer_and_a_buffer_of_another_job) {
  auto p = make_pool();
  auto foreign = make_pool(3, false, job + 1);
  int somewhere = 0;
  EXPECT_EQ(p->release(&somewhere), wrong::not_a_buffer);
  EXPECT_EQ(p->release(nullptr), wrong::not_a_buffer);
  block* b = p->request(1000);
  EXPECT_EQ(p->release(b->data() + 64), wrong::not_a_buffer);
  EXPECT_EQ(p->release(foreign->request(10)->data()), wrong::other_job);
  EXPECT_FALSE(p->map(foreign->region_of(3)->offer()));
}

TEST(pool, names_a_header_that_was_overwritten) {
  auto p = make_pool();
  block* b = p->request(64);
  b->mark = 0;
  EXPECT_EQ(p->release(b->data()), wrong::damaged);
}

TEST(pool, names_the_use_of_a_buffer_that_was_sent_away) {
  auto p = make_pool();
  void* data = p->request(10)->data();
  const auto f = p->find(data);
  ASSERT_EQ(p->send(f, false), wrong::none);
  EXPECT_EQ(p->release(data), wrong::in_flight);
  EXPECT_EQ(p->release_later(data), wrong::in_flight);
  EXPECT_EQ(p->send(f, false), wrong::in_flight);
  p->receive(*f.header, false);
  EXPECT_EQ(p->release(data), wrong::none);
}

TEST(pool, a_kept_buffer_is_idle_again_when_its_receiver_has_released_it) {
  auto p = make_pool();
  void* data = p->request(10)->data();
  void* received = hand_over(*p, *p, data, true);
  EXPECT_NE(received, data);
  std::memcpy(data, "x", 1);
  EXPECT_EQ(*static_cast<char*>(received), 'x');
  bool idle = true;
  EXPECT_EQ(p->probe(data, idle), wrong::none);
  EXPECT_FALSE(idle);
  EXPECT_EQ(p->release(data), wrong::in_use);
  EXPECT_EQ(p->release(received), wrong::none);
  EXPECT_EQ(p->release(received), wrong::released);
  EXPECT_EQ(p->probe(data, idle), wrong::none);
  EXPECT_TRUE(idle);
  EXPECT_EQ(p->release(data), wrong::none);
}

TEST(pool, a_buffer_released_later_is_freed_by_its_last_receiver) {
  auto p = make_pool();
  void* data = p->request(10)->data();
  void* one = hand_over(*p, *p, data, true);
  void* two = hand_over(*p, *p, data, true);
  EXPECT_EQ(p->release_later(data), wrong::none);
  EXPECT_EQ(p->release_later(data), wrong::released);
  EXPECT_EQ(p->release(one), wrong::none);
  EXPECT_EQ(p->release(two), wrong::none);
  EXPECT_EQ(p->release(two), wrong::released);
  EXPECT_EQ(p->request(10)->data(), data);
}

TEST(pool, another_process_reads_in_place_and_gives_back) {
  auto one = make_pool(0);
  auto two = make_pool(1);
  ASSERT_TRUE(two->map(one->region_of(0)->offer()));
  const auto big = std::size_t{8} << 20;
  for (int i = 0; i < 100; ++i) {
    block* b = one->request(big);
    ASSERT_NE(b, nullptr) << "what comes back is used again";
    std::memcpy(b->data(), "hello", 6);
    void* received = hand_over(*one, *two, b->data(), i % 2 == 0);
    if (i % 2 == 0) {
      EXPECT_EQ(one->release_later(b->data()), wrong::none);
    }
    EXPECT_STREQ(static_cast<char*>(received), "hello");
    EXPECT_EQ(two->release(received), wrong::none);
    EXPECT_EQ(two->release(received), wrong::released);
  }
}

TEST(pool, takes_back_the_buffers_of_a_dead_process) {
  auto one = make_pool(0);
  auto two = make_pool(1);
  ASSERT_TRUE(two->map(one->region_of(0)->offer()));
  block* away = one->request(8 << 20);
  block* kept = one->request(8 << 20);
  hand_over(*one, *two, away->data(), false);
  hand_over(*one, *two, kept->data(), true);
  one->reclaim(1);
  EXPECT_EQ(one->release(kept->data()), wrong::none);
  EXPECT_EQ(one->release(away->data()), wrong::released);
}

TEST(pool, a_buffer_lands_once_and_only_while_it_is_under_way) {
  auto p = make_pool();
  block* b = p->request(100);
  EXPECT_FALSE(ownership::land(*b, false)) << "its holder has it";
  ASSERT_EQ(p->send(p->find(b->data()), false), wrong::none);
  EXPECT_TRUE(ownership::land(*b, false));
  EXPECT_FALSE(ownership::land(*b, false)) << "said twice";
  EXPECT_EQ(p->release(b->data()), wrong::in_flight);
  p->receive(*b, false);
  EXPECT_FALSE(ownership::land(*b, true)) << "no receiver shares it";
  ASSERT_EQ(p->send(p->find(b->data()), true), wrong::none);
  EXPECT_TRUE(ownership::land(*b, true));
  p->end_message(*b, true);
  p->end_message(*b, true);  // once too often
  EXPECT_EQ(p->release(b->data()), wrong::none);
  EXPECT_FALSE(ownership::land(*b, false)) << "it is free";
}

TEST(pool, notices_a_write_after_release_where_checks_are_on) {
  auto p = make_pool(0, true);
  block* b = p->request(100);
  EXPECT_EQ(p->release(b->data()), wrong::none);
  b->data()[5] = std::byte{1};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(p->request(100), b);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("written after its release"),
            std::string::npos);
}

TEST(pool, a_thread_that_ended_leaves_its_buffers_to_the_next) {
  auto p = make_pool();
  const auto once = [&] {
    std::vector<block*> some;
    for (int i = 0; i < 200; ++i) some.push_back(p->request(64));
    for (block* b : some) EXPECT_EQ(p->release(b->data()), wrong::none);
  };
  std::thread(once).join();
  const auto taken = p->bytes_taken();
  for (int i = 0; i < 20; ++i) std::thread(once).join();
  EXPECT_LE(p->bytes_taken(), taken + 64 * 1024);
}

}  // namespace
}  // namespace headway::endpoints::pool_tests
