// A connection that is cut is made again and goes on where it was: nothing is lost, nothing comes
// twice.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "rails/health.hpp"
#include "tcp_pair.hpp"

namespace headway::rails::testing {
namespace {

constexpr int descriptors_max = 1024;
constexpr peer_id first{0}, second{1};

/// Ends every TCP connection of this process, as a network would: what is on its way may be lost.
int cut_connections() {
  int count = 0;
  for (int fd = 3; fd < descriptors_max; ++fd) {
    sockaddr_storage far;
    socklen_t length = sizeof far;
    const bool connected = getpeername(fd, reinterpret_cast<sockaddr*>(&far), &length) == 0;
    if (!connected || far.ss_family == AF_UNIX) continue;
    count += shutdown(fd, SHUT_RDWR) == 0;
  }
  return count;
}

/// Two processes that no other rail joins.
struct pair : tcp_pair {
  explicit pair(const tcp::settings& how = {}) : tcp_pair(how, how) { resume_if_cut(); }
};

/// Random traffic in both directions: packets of all sizes, payloads for exposed memory, sums in
/// the other's memory.
class traffic {
 public:
  explicit traffic(unsigned seed, tcp::settings how = {}) : random_(seed), both_(how) {
    for (auto* to : {&at_a_, &at_b_}) to->resize(slots * slot_bytes);
    for (auto* from : {&for_a_, &for_b_}) from->resize(slots * slot_bytes);
    shown_a_ = show(*both_.a, {.bytes = at_a_, .token = 1});
    shown_b_ = show(*both_.b, {.bytes = at_b_, .token = 1});
    sum_a_ = show(*both_.a, {.bytes = std::as_writable_bytes(std::span(&total_a_, 1)),
                             .rights = access::atomic});
    sum_b_ = show(*both_.b, {.bytes = std::as_writable_bytes(std::span(&total_b_, 1)),
                             .rights = access::atomic});
  }

  void run(int steps, unsigned cut_each) {
    int cuts = 0;
    for (int i = 0; i < steps; ++i) {
      send_something(both_.a, second, sent_to_b_, for_b_, shown_b_, sum_b_, put_to_b_);
      send_something(both_.b, first, sent_to_a_, for_a_, shown_a_, sum_a_, put_to_a_);
      if (random_() % 3 == 0) both_.a.step();
      if (random_() % 3 == 0) both_.b.step();
      if (random_() % cut_each == 0) cuts += cut_connections();
    }
    EXPECT_TRUE(both_.run_until([&] { return over(); })) << "something was lost";
    for (int i = 0; i < 50; ++i) {  // or came twice
      both_.a.step();
      both_.b.step();
    }
    EXPECT_GT(cuts, 0);
    check();
  }

 private:
  static constexpr std::size_t slots = 60, slot_bytes = 200'000;
  struct put_so_far {
    std::size_t count = 0, bytes = 0;
  };

  void send_something(station& from, peer_id to, std::vector<std::string>& sent,
                      std::vector<std::byte>& source, const ticket& shown, const ticket& sum,
                      put_so_far& puts) {
    const auto kind = random_() % 4;
    if (kind < 2) {
      auto& text = texts_.emplace_back(fmt::format("{} ", sent.size()));
      text.resize(random_() % (random_() % 8 == 0 ? 60'000 : 300) + text.size(), 'x');
      const bool lent = text.size() >= from->query().lent_bytes_min;
      const auto said = from->send(
          to, {.header = bytes_of("head"), .payload = bytes_of(text), .cookie = 7, .lent = lent});
      if (said != post::retry) sent.push_back("head" + text);
      if (said == post::done && lent) lent_[to].push_back(&text);
      if (random_() % 10 == 0) reclaim(*from, to);
    } else if (kind == 2 && puts.count < slots) {
      const auto at = puts.count * slot_bytes;
      const auto bytes = random_() % slot_bytes + 1;
      const auto part = std::span(source).subspan(at, bytes);
      std::ranges::copy(pattern(bytes, static_cast<unsigned>(puts.count + 1)), part.begin());
      auto& memory = *from->memory();
      const remote_place place{.exposed = shown, .offset = at};
      const auto said =
          random_() % 2 == 0 ? memory.put(to, place, part, 5) : memory.put_lent(to, place, part, 5);
      if (said == post::retry) std::ranges::fill(part, std::byte{});
      else puts = {.count = puts.count + 1, .bytes = puts.bytes + bytes};
    } else if (kind == 3) {
      auto& before = before_.emplace_back();
      if (from->memory()->atomic(to, {.exposed = sum}, {.what = operation::add, .operand = 1},
                                 before, 9) != post::retry)
        ++(to == first ? added_to_a_ : added_to_b_);
    }
  }
  /// What was lent may change then.
  void reclaim(driver& from, peer_id to) {
    from.reclaim(to);
    for (auto* const text : lent_[to]) std::ranges::fill(*text, '!');
    lent_[to].clear();
  }
  [[nodiscard]] bool over() const {
    const auto ends = [](const station& s) { return std::ranges::count(s.sent, 9u); };
    return both_.a.received.size() >= sent_to_a_.size() &&
           both_.b.received.size() >= sent_to_b_.size() &&
           both_.a.landed_bytes >= put_to_a_.bytes && both_.b.landed_bytes >= put_to_b_.bytes &&
           ends(both_.a) >= added_to_b_ && ends(both_.b) >= added_to_a_;
  }
  void check() const {
    EXPECT_EQ(both_.a.received, sent_to_a_);
    EXPECT_EQ(both_.b.received, sent_to_b_);
    EXPECT_EQ(both_.a.landed_bytes, put_to_a_.bytes);
    EXPECT_EQ(both_.b.landed_bytes, put_to_b_.bytes);
    EXPECT_TRUE(at_a_ == for_a_ && at_b_ == for_b_);
    EXPECT_EQ(total_a_, static_cast<std::uint64_t>(added_to_a_)) << "each sum once";
    EXPECT_EQ(total_b_, static_cast<std::uint64_t>(added_to_b_));
    for (const auto* s : {&both_.a, &both_.b}) {
      EXPECT_TRUE(s->lost.empty());
      EXPECT_TRUE(s->failed.empty());
      EXPECT_TRUE(s->restored.empty());
    }
  }

  std::mt19937 random_;
  std::vector<std::byte> at_a_, at_b_, for_a_, for_b_;
  std::uint64_t total_a_ = 0, total_b_ = 0;
  // They stay where they are.
  std::deque<std::uint64_t> before_;
  std::deque<std::string> texts_;
  std::map<peer_id, std::vector<std::string*>> lent_;  // and `done`, not reclaimed
  pair both_;
  ticket shown_a_, shown_b_, sum_a_, sum_b_;
  std::vector<std::string> sent_to_a_, sent_to_b_;
  put_so_far put_to_a_, put_to_b_;
  std::ptrdiff_t added_to_a_ = 0, added_to_b_ = 0;
};

TEST(tcp_resume, everything_arrives_once_however_often_connections_are_cut) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    traffic(seed).run(3000, 20 + 300 * (seed % 2));
  }
}

TEST(tcp_resume, everything_arrives_once_over_encrypted_connections_that_are_cut) {
  for (unsigned seed = 10; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    traffic(seed, {.encryption = true}).run(1500, 20 + 300 * (seed % 2));
  }
}

TEST(tcp_resume, what_was_lent_is_sent_again_after_a_cut_and_may_change_once_it_is_reclaimed) {
  constexpr std::size_t bytes = 50'000;
  for (const bool cut_first : {true, false}) {
    std::vector<std::vector<std::byte>> payloads;
    pair both;
    std::vector<std::string> wanted;
    for (unsigned i = 0; i < 20; ++i) {
      const auto& made = payloads.emplace_back(pattern(bytes, i));
      wanted.emplace_back(reinterpret_cast<const char*>(made.data()), made.size());
    }
    EXPECT_EQ(both.a->send(second, {.header = bytes_of("hello")}), post::done);
    ASSERT_TRUE(both.run_until([&] { return both.b.received.size() == 1; }));
    std::size_t done = 0;
    while (done < payloads.size() &&
           both.a->send(second, {.payload = payloads[done], .cookie = done, .lent = true}) ==
               post::done)
      ++done;
    EXPECT_GT(done, 0u);
    int cuts = cut_first ? cut_connections() : 0;
    both.a->reclaim(second);
    for (std::size_t i = 0; i < done; ++i) std::ranges::fill(payloads[i], std::byte{0xee});
    if (!cut_first) cuts = cut_connections();
    EXPECT_GT(cuts, 0);
    ASSERT_TRUE(both.run_until([&] { return both.b.received.size() > done; }));
    for (std::size_t i = 0; i < done; ++i) EXPECT_EQ(both.b.received[i + 1], wanted[i]) << i;
  }
}

TEST(tcp_resume, what_is_lent_needs_nothing_more_of_its_sender) {
  const auto payload = pattern(30'000, 1);
  pair both;
  EXPECT_EQ(both.a->send(second, {.header = bytes_of("hello")}), post::done);
  ASSERT_TRUE(both.run_until([&] { return both.b.received.size() == 1; }));
  while (both.a.step() > 0) {
  }
  EXPECT_EQ(both.a->send(second, {.payload = payload, .lent = true}), post::done);
  EXPECT_FALSE(both.a->unsent());
  EXPECT_TRUE(both.a->arm(true)) << "it may sleep";
  const auto deadline = base::machine_now_ns() + 20'000'000'000u;
  while (both.b.received.size() < 2 && base::machine_now_ns() < deadline) both.b.step();
  EXPECT_EQ(both.b.received.size(), 2u);
}

TEST(tcp_resume, switched_off_a_connection_that_is_cut_is_a_loss) {
  pair both({.resume = false});
  EXPECT_EQ(both.a->send(second, {.header = bytes_of("hello")}), post::done);
  ASSERT_TRUE(both.run_until([&] { return both.b.received.size() == 1; }));
  EXPECT_GT(cut_connections(), 0);
  EXPECT_TRUE(both.run_until([&] { return both.a.lost.size() + both.b.lost.size() == 2; }));
}

TEST(tcp_resume, a_peer_that_says_goodbye_is_not_waited_for) {
  pair both;
  EXPECT_EQ(both.a->send(second, {.header = bytes_of("hello")}), post::done);
  ASSERT_TRUE(both.run_until([&] { return both.b.received.size() == 1; }));
  std::thread leaving([&] { both.b->close(); });
  const auto down = [&] { return both.a->send(second, {.header = bytes_of("still?")}); };
  const auto deadline = base::machine_now_ns() + 20'000'000'000u;
  while (down() != post::down && base::machine_now_ns() < deadline) both.a.step();
  leaving.join();
  EXPECT_EQ(down(), post::down);
  EXPECT_TRUE(both.a.lost.empty());
}

}  // namespace
}  // namespace headway::rails::testing
