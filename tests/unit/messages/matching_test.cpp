#include "messages/matching.hpp"

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <random>
#include <vector>

namespace headway::messages {
namespace {

using pattern = matcher::pattern;

/// The standard's rule as a linear search: the oldest that matches.
template <class Entry>
Entry* oldest(std::list<std::pair<pattern, Entry*>>& all, auto fits) {
  for (auto at = all.begin(); at != all.end(); ++at)
    if (fits(at->first)) {
      Entry* const found = at->second;
      all.erase(at);
      return found;
    }
  return nullptr;
}

/// A matcher, and the reference lists with which it must agree.
class compared {
 public:
  explicit compared(bool widens) : widens_(widens) {}

  void post(pattern wanted) {
    auto& made = *requests_.emplace_back(std::make_unique<request>());
    // As `exchange::receive` does.
    unexpected_message* const here = real_.find_unexpected(wanted);
    ASSERT_EQ(here, oldest(unexpected_, [&](pattern m) { return wanted.admits(m.source, m.tag); }));
    if (here) {
      real_.remove_unexpected(*here);
      free_unexpected(here);
      return;
    }
    real_.post(made, wanted);
    posted_.emplace_back(wanted, &made);
    widen();
  }

  void arrive(int source, int tag) {
    request* const taken = real_.take_posted(source, tag);
    ASSERT_EQ(taken, oldest(posted_, [&](pattern p) { return p.admits(source, tag); }));
    if (taken) return;
    const envelope head{.source = static_cast<std::uint32_t>(source), .tag = tag};
    auto* const kept = make_unexpected(nobody(), head, {});
    real_.add_unexpected(*kept);
    unexpected_.emplace_back(pattern{source, tag}, kept);
    widen();
  }

  void cancel_any(std::mt19937& dice) {
    if (posted_.empty()) return;
    const auto at =
        std::next(posted_.begin(), static_cast<std::ptrdiff_t>(dice() % posted_.size()));
    real_.withdraw(*at->second);
    posted_.erase(at);
  }

  void take_all() {
    while (request* const one = real_.take_posted_if([](const request&) { return true; }))
      ASSERT_EQ(std::erase_if(posted_, [&](const auto& p) { return p.second == one; }), 1u);
    EXPECT_TRUE(posted_.empty());
  }

 private:
  static packets::peer& nobody() {
    alignas(packets::peer) static std::byte none[sizeof(packets::peer)];
    return reinterpret_cast<packets::peer&>(none);  // only its address is kept
  }
  void widen() {
    const auto wanted = real_.bins_wanted();
    if (!widens_ || wanted == 0) return;
    auto bins = matcher::bins::make(wanted);
    real_.widen(bins);
    EXPECT_EQ(real_.bins_wanted(), 0u);
  }

  const bool widens_;
  matcher real_;
  std::list<std::pair<pattern, request*>> posted_;
  std::list<std::pair<pattern, unexpected_message*>> unexpected_;
  std::vector<std::unique_ptr<request>> requests_;
};

/// `receives` of ten operations are receives; `wild` of ten of those have a wildcard.
void compare(unsigned seed, int sources, int tags, unsigned receives, unsigned wild, bool widens) {
  std::mt19937 dice(seed);
  const auto below = [&](int limit) {
    return static_cast<int>(dice() % static_cast<unsigned>(limit));
  };
  compared both(widens);
  for (int i = 0; i < 4000 && !testing::Test::HasFatalFailure(); ++i) {
    if (dice() % 40 == 0) both.cancel_any(dice);
    pattern p{below(sources), below(tags)};
    if (dice() % 10 >= receives) {
      both.arrive(p.source, p.tag);
      continue;
    }
    if (dice() % 10 < wild) {
      if (dice() % 2 == 0) p.source = any_source;
      if (dice() % 2 == 0) p.tag = any_tag;
    }
    both.post(p);
  }
  both.take_all();
}

TEST(matching, takes_the_oldest_that_fits_whatever_waits) {
  unsigned seed = 1;
  for (const int sources : {1, 3, 200})
    for (const int tags : {1, 4, 1000})
      for (const unsigned receives : {2u, 5u, 8u})
        for (const unsigned wild : {0u, 3u, 10u})
          compare(seed++, sources, tags, receives, wild, true);
}

TEST(matching, is_right_without_memory_for_more_bins) { compare(7, 5, 1000, 5, 2, false); }

TEST(matching, needs_more_bins_only_for_more_keys) {
  matcher m;
  std::vector<std::unique_ptr<request>> all;
  const auto post = [&](int tag) {
    m.post(*all.emplace_back(std::make_unique<request>()), {0, tag});
  };
  for (int i = 0; i < 1000; ++i) post(i % 8);
  EXPECT_EQ(m.bins_wanted(), 0u);
  for (int i = 0; i < 1000; ++i) post(i);
  const auto wanted = m.bins_wanted();
  EXPECT_GT(wanted, 64u);
  auto few = matcher::bins::make(16);  // fewer than there are
  m.widen(few);
  EXPECT_EQ(m.bins_wanted(), wanted);
  while (m.take_posted_if([](const request&) { return true; })) {
  }
}

}  // namespace
}  // namespace headway::messages
