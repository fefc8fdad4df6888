// Goal:   three shared-memory drivers in one process, each with two sending threads, a reaping
//         thread that sleeps when it can, and a kernel sleeper that arms and ticks beside it: every
//         packet arrives once and in order, every large payload in its place, and no thread sleeps
//         for ever.
// Method: random sizes from fixed seeds; all drivers of a process share one mapping of a segment,
//         so that ThreadSanitizer sees both ends touch the same memory.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "rails/shm/shm_driver.hpp"
#include "tests/job_table.hpp"

namespace headway::rails::shm {
namespace {

constexpr std::uint32_t driver_count = 3;
constexpr std::uint32_t packet_count = 4000;  // from each to each
constexpr std::uint32_t zone_count = 24;
constexpr std::size_t zone_bytes = 150'000;
constexpr std::uint64_t patience_ns = 60'000'000'000;

std::vector<std::byte> content(std::uint32_t from, std::uint32_t to, std::uint32_t number) {
  std::mt19937 random(from * 10'000 + to * 1000 + number);
  std::vector<std::byte> bytes(zone_bytes - number);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

/// One driver with its threads.
class member {
 public:
  member(std::uint32_t rank, const std::string& job)
      : rank_(rank),
        driver_({.known = &testing::table_of(job, driver_count),
                 .me = peer_id{rank},
                 .job_name = job,
                 .size = driver_count,
                 // Small, so that it is full most of the time, but with packets in parts.
                 .how = {.ring_bytes = 512 * 1024}}) {
    for (auto& zones : zones_) zones.assign(zone_count, {});
  }

  std::vector<std::byte> open() { return driver_.open().value(); }
  void connect(member& peer, std::span<const std::byte> address) {
    ASSERT_TRUE(driver_.connect(peer_id{peer.rank_}, address));
    for (auto& zone : zones_[peer.rank_]) {
      zone.resize(zone_bytes);
      peer.targets_[rank_].push_back(driver_.memory()->expose({.bytes = zone}).value());
    }
  }
  void start(std::uint64_t deadline_ns) {
    deadline_ns_ = deadline_ns;
    threads_.emplace_back([this] { reap(); });
    threads_.emplace_back([this] { guard(); });
    for (std::uint32_t to = 0; to < driver_count; ++to)
      if (to != rank_) threads_.emplace_back([this, to] { send(to); });
  }
  void finish() {
    for (auto& t : threads_) t.join();
  }
  void check() const {
    EXPECT_EQ(packets_, packet_count * (driver_count - 1));
    EXPECT_TRUE(in_order_);
    EXPECT_TRUE(well_filled_);
    for (std::uint32_t from = 0; from < driver_count; ++from)
      for (std::uint32_t n = 0; from != rank_ && n < zone_count; ++n) {
        auto wanted = content(from, rank_, n);
        EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), zones_[from][n].begin()));
      }
  }

 private:
  [[nodiscard]] static bool can_wait(std::uint32_t packet) { return packet % 3 != 0; }
  /// Each byte of a packet's payload.
  [[nodiscard]] static std::byte filling(std::uint32_t packet) { return std::byte(packet % 251); }
  void filled(std::span<const std::byte> payload, std::uint32_t packet) {
    const auto wanted = filling(packet);
    well_filled_ =
        well_filled_ && std::ranges::all_of(payload, [=](std::byte b) { return b == wanted; });
  }
  [[nodiscard]] bool late() const { return base::machine_now_ns() > deadline_ns_; }
  [[nodiscard]] bool all_here() const {
    return packets_ == packet_count * (driver_count - 1) && landed_ == landed_wanted &&
           sent_ == posted_ && senders_left_ == 0;
  }

  template <class Offer>
  void post_until_taken(const Offer& offer) {
    post said;
    while ((said = offer()) == post::retry && !late()) std::this_thread::yield();
    if (said == post::posted) ++posted_;
    EXPECT_TRUE(said == post::done || said == post::posted);
  }

  void send(std::uint32_t to) {
    std::mt19937 random(rank_ * 7 + to);
    std::vector<std::byte> filler(driver_.query().eager_bytes_max);
    std::vector<std::vector<std::byte>> payloads;
    for (std::uint32_t n = 0; n < zone_count; ++n) payloads.push_back(content(rank_, to, n));
    for (std::uint32_t i = 0; i < packet_count && !late(); ++i) {
      const std::size_t size = i % 40 == 0 ? random() % filler.size() : random() % 100;
      std::fill_n(filler.begin(), size, filling(i));
      post_until_taken([&] {
        return driver_.send(peer_id{to}, {.header = std::as_bytes(std::span(&i, 1)),
                                          .payload = std::span(filler).first(size),
                                          .in_parts = i % 80 == 0,
                                          .can_wait = can_wait(i)});
      });
      if (i % (packet_count / zone_count) == 0 && i / (packet_count / zone_count) < zone_count) {
        const std::uint32_t n = i / (packet_count / zone_count);
        post_until_taken([&] {
          return driver_.memory()->put(peer_id{to}, {.exposed = targets_[to][n]}, payloads[n], n);
        });
      }
    }
    --senders_left_;
    while (sent_ != posted_ && !late()) std::this_thread::yield();  // payloads are read till then
  }

  void reap() {
    std::array<event, 8> events;
    while (!all_here() && !late()) {
      std::size_t count;
      {
        const std::lock_guard guard(reaping_);
        count = driver_.reap(events);
        for (std::size_t i = 0; i < count; ++i) note(events[i]);
      }
      if (count == 0 && ++idle_rounds_ % 64 == 0) sleep();
    }
  }

  /// True: it ends a sleep that is armed for what cannot wait.
  bool note(const event& e) {
    bool hurried = e.kind == event_kind::landed;
    if (e.kind == event_kind::received) {
      std::uint32_t number = 0;
      std::memcpy(&number, e.bytes.data(), sizeof number);
      hurried = !can_wait(number);
      filled(e.bytes.subspan(sizeof number), number);
      in_order_ = in_order_ && number == next_[static_cast<std::size_t>(e.peer)]++;
      due_[static_cast<std::size_t>(e.peer)] = e.count;
      driver_.release(e);
      ++packets_;
    } else if (e.kind == event_kind::continued) {
      auto& due = due_[static_cast<std::size_t>(e.peer)];
      in_order_ = in_order_ && due == e.bytes.size() + e.count;
      due = e.count;
      filled(e.bytes, next_[static_cast<std::size_t>(e.peer)] - 1);
      driver_.release(e);
    } else if (e.kind == event_kind::landed) {
      landed_ += e.count;
    } else if (e.kind == event_kind::sent) {
      ++sent_;
    } else {
      ADD_FAILURE() << "nobody died";
    }
    return hurried;
  }

  /// One thread at a time may sleep: the reaper and the kernel sleeper take turns.
  void sleep() {
    const std::unique_lock asleep(sleeping_, std::try_to_lock);
    if (!asleep) return;
    pollfd bell{driver_.descriptor(), POLLIN, 0};
    const bool for_all = ++sleeps_ % 2 == 0;
    const bool armed = for_all ? driver_.arm(true) : driver_.arm_for_hurried();
    if (armed && ::poll(&bell, 1, for_all ? 100 : 1) == 0) {
      // Silence: then nothing came, or it rings now.
      std::array<event, 8> events;
      const std::lock_guard guard(reaping_);
      const std::size_t count = driver_.reap(events);
      bool came = false;
      for (std::size_t i = 0; i < count; ++i) {
        const bool hurried = note(events[i]);
        came = came || hurried || (for_all && events[i].kind != event_kind::sent);
      }
      if (came) {
        EXPECT_EQ(::poll(&bell, 1, 1000), 1) << "a wake-up was lost";
      }
    }
    static_cast<void>(driver_.arm(false));
  }

  void guard() {
    while (!all_here() && !late()) {
      sleep();
      driver_.tick(base::machine_now_ns());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  static constexpr std::uint64_t landed_wanted =
      (driver_count - 1) * (zone_count * zone_bytes - zone_count * (zone_count - 1) / 2);

  const std::uint32_t rank_;
  shm_driver driver_;
  std::array<std::vector<std::vector<std::byte>>, driver_count> zones_;
  std::array<std::vector<ticket>, driver_count> targets_;  // the others' zones for this one
  std::array<std::uint32_t, driver_count> next_{};
  std::array<std::uint64_t, driver_count> due_{};  // bytes of a packet in parts
  bool in_order_ = true, well_filled_ = true;
  std::atomic<std::uint32_t> packets_{0}, sent_{0}, posted_{0}, senders_left_{driver_count - 1};
  std::atomic<std::uint64_t> landed_{0};
  std::atomic<int> slept_through_{0};
  std::uint64_t idle_rounds_ = 0;
  std::uint64_t sleeps_ = 0;  // under sleeping_
  std::uint64_t deadline_ns_ = 0;
  std::mutex reaping_, sleeping_;
  std::vector<std::thread> threads_;
};

TEST(shm_stress, threads_of_three_drivers_lose_nothing_and_sleep_well) {
  std::uint32_t salt = 0;
  ASSERT_EQ(getrandom(&salt, sizeof salt, 0), static_cast<ssize_t>(sizeof salt));
  const std::string job = "stress-" + std::to_string(salt);
  std::vector<std::unique_ptr<member>> members;
  std::vector<std::vector<std::byte>> addresses;
  for (std::uint32_t rank = 0; rank < driver_count; ++rank) {
    members.push_back(std::make_unique<member>(rank, job));
    addresses.push_back(members.back()->open());
  }
  for (std::uint32_t from = 0; from < driver_count; ++from)
    for (std::uint32_t to = 0; to < driver_count; ++to)
      if (from != to) members[from]->connect(*members[to], addresses[to]);
  const std::uint64_t deadline = base::machine_now_ns() + patience_ns;
  for (auto& m : members) m->start(deadline);
  for (auto& m : members) m->finish();
  EXPECT_LT(base::machine_now_ns(), deadline);
  for (auto& m : members) m->check();
}

/// One payload into an exposure that is withdrawn at some moment, by drivers of their own: a
/// process that has taken a target back once gets its payloads through buffers from then on.
void close_while_written(const std::string& job, std::size_t enough) {
  std::array<std::unique_ptr<shm_driver>, 2> ends;
  std::array<std::vector<std::byte>, 2> addresses;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ends[rank] = std::make_unique<shm_driver>(config{
        .known = &testing::table_of(job, 2), .me = peer_id{rank}, .job_name = job, .size = 2});
    addresses[rank] = ends[rank]->open().value();
  }
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    ASSERT_TRUE(ends[rank]->connect(peer_id{1 - rank}, addresses[1 - rank]));
  const std::vector<std::byte> payload(2'000'000, std::byte{7});
  std::vector<std::byte> zone(payload.size());
  const ticket shown = ends[1]->memory()->expose({.bytes = zone}).value();
  ASSERT_EQ(ends[0]->memory()->put(peer_id{1}, {.exposed = shown}, payload, 5), post::posted);
  const std::uint64_t deadline = base::machine_now_ns() + patience_ns;
  std::atomic<bool> ended{false};
  std::jthread sender([&] {
    std::array<event, 4> events;
    while (!ended && base::machine_now_ns() < deadline)
      if (ends[0]->reap(events) != 0) ended = events[0].kind == event_kind::sent;
  });
  std::array<event, 4> events;
  for (std::size_t landed = 0; landed < enough && !ended && base::machine_now_ns() < deadline;) {
    const std::size_t count = ends[1]->reap(events);
    for (std::size_t i = 0; i < count; ++i) landed += events[i].count;
  }
  ends[1]->memory()->withdraw(shown);
  std::ranges::fill(zone, std::byte{1});
  while (!ended && base::machine_now_ns() < deadline) EXPECT_EQ(ends[1]->reap(events), 0u);
  sender.join();
  EXPECT_TRUE(ended) << "the sender is told, though the rest was dropped";
  EXPECT_EQ(std::ranges::count(zone, std::byte{1}), static_cast<std::ptrdiff_t>(zone.size()));
}

TEST(shm_stress, what_is_withdrawn_while_it_is_written_is_the_callers_again) {
  std::uint32_t salt = 0;
  ASSERT_EQ(getrandom(&salt, sizeof salt, 0), static_cast<ssize_t>(sizeof salt));
  std::mt19937 random(salt);
  for (int round = 0; round < 100 && !HasFailure(); ++round)
    close_while_written("closing-" + std::to_string(salt) + "-" + std::to_string(round),
                        random() % 2'000'000);
}

}  // namespace
}  // namespace headway::rails::shm
