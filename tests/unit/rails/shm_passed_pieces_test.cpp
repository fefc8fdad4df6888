#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "rails/shm/passed_pieces.hpp"

namespace headway::rails::shm {
namespace {

constexpr std::uint32_t lines = 4, spare = 2, piece_bytes = 64;

constexpr passed_pieces<>::name in_writers_segment = 2;

/// Two processes, each with its segment, and the names in the lines of both.
struct pair_of_ends {
  using end = passed_pieces<>;

  struct process {
    end buffers;
    std::vector<std::byte> segment = std::vector<std::byte>(piece_bytes * (lines + spare));
    std::array<end::name, lines> names{};  // of pieces that come to this process
    [[nodiscard]] end::area area(std::uint32_t bytes = piece_bytes) {
      return {.begin = segment.data(), .piece_bytes = bytes, .lines = lines, .spare = spare};
    }
  };
  process a, b;

  explicit pair_of_ends(bool b_sends = true, std::uint32_t bytes_there = piece_bytes) {
    a.buffers.set_own(a.area());
    a.buffers.set_peers(b.area(bytes_there));
    b.buffers.set_own(b.area(bytes_there));
    if (b_sends) b.buffers.set_peers(a.area());
  }
  /// Where the process that sends to `to` writes.
  std::byte* fill(process& to, std::uint32_t line, bool exchanges = true) {
    const auto made = (&to == &a ? b : a).buffers.fill(to.names[line], line, exchanges);
    to.names[line] = made.says;
    return made.at;
  }
  /// Where `at` reads.
  static const std::byte* read(process& at, std::uint32_t line) {
    const auto* const where = at.buffers.find(at.names[line], line);
    at.names[line] = at.buffers.read(at.names[line], line);
    return where;
  }
};

TEST(shm_passed_pieces, are_filled_by_the_process_that_has_emptied_them_last) {
  pair_of_ends two;
  static_cast<void>(two.fill(two.b, 0));
  const auto* const first = two.fill(two.a, 0);
  const auto* const second = two.fill(two.a, 1);
  EXPECT_EQ(two.read(two.a, 0), first);
  EXPECT_EQ(two.read(two.a, 1), second);
  EXPECT_EQ(two.fill(two.b, 1), second) << "the last one that it has emptied";
  EXPECT_EQ(two.fill(two.b, 2), first);
  static_cast<void>(two.read(two.b, 0));
  EXPECT_EQ(two.read(two.b, 1), second);
  EXPECT_EQ(two.fill(two.a, 2), second);
}

TEST(shm_passed_pieces, go_back_at_once_to_a_process_that_sends_alone) {
  pair_of_ends two(false);
  for (std::uint32_t i = 0; i < 3 * lines; ++i) {
    const auto line = i % lines;
    const auto* const filled = two.fill(two.b, line);
    EXPECT_EQ(filled, two.b.segment.data() + line * piece_bytes);
    EXPECT_EQ(two.read(two.b, line), filled);
  }
}

TEST(shm_passed_pieces, stay_in_their_lines_where_none_is_to_be_exchanged) {
  pair_of_ends two;
  static_cast<void>(two.fill(two.b, 0));
  static_cast<void>(two.fill(two.a, 0));
  const auto* const emptied = two.read(two.a, 0);
  EXPECT_NE(two.fill(two.b, 1, false), emptied);
  EXPECT_EQ(two.fill(two.b, 2), emptied);
}

TEST(shm_passed_pieces, of_different_sizes_are_not_exchanged) {
  pair_of_ends two(true, piece_bytes / 2);
  static_cast<void>(two.fill(two.b, 0));
  static_cast<void>(two.fill(two.a, 0));
  static_cast<void>(two.read(two.a, 0));
  EXPECT_EQ(two.fill(two.b, 1), two.b.segment.data() + piece_bytes / 2);
  EXPECT_EQ(two.a.buffers.find(in_writers_segment, 0), nullptr) << "the peer may not name it";
}

TEST(shm_passed_pieces, hold_one_piece_at_a_time_in_any_order_of_sends) {
  pair_of_ends two;
  std::minstd_rand random(7);
  struct direction {
    pair_of_ends::process* to;
    std::uint32_t filled = 0, emptied = 0;
    std::array<const std::byte*, lines> held{};
  };
  std::array<direction, 2> ways{direction{&two.a}, direction{&two.b}};
  std::size_t passed = 0;
  for (int step = 0; step < 20'000; ++step) {
    auto& way = ways[random() % 2];
    const auto in_lines = way.filled - way.emptied;
    if (in_lines < lines && random() % 2 == 0) {
      const auto line = way.filled++ % lines;
      const auto* const where = two.fill(*way.to, line);
      const auto* const begin = way.to->segment.data();
      passed += where < begin || where >= begin + way.to->segment.size();
      for (const auto& other : ways) ASSERT_EQ(std::ranges::count(other.held, where), 0);
      way.held[line] = where;
    } else if (in_lines != 0) {
      const auto line = way.emptied++ % lines;
      ASSERT_EQ(two.read(*way.to, line), way.held[line]);
      way.held[line] = nullptr;
    }
  }
  EXPECT_GT(passed, 1000u) << "buffers of the other segment";
}

TEST(shm_passed_pieces, that_are_named_wrongly_are_not_found_and_not_filled) {
  pair_of_ends two;
  constexpr auto behind = 1 + 2 * (lines + spare);
  for (const auto wrong : {behind, behind + 1, ~std::uint32_t{0}}) {
    EXPECT_EQ(two.a.buffers.find(wrong, 0), nullptr);
    two.b.names[1] = wrong;
    EXPECT_EQ(two.fill(two.b, 1), two.b.segment.data() + piece_bytes);
  }
  pair_of_ends silent(false);
  EXPECT_EQ(silent.b.buffers.find(in_writers_segment, 0), nullptr) << "it has reserved none there";
}

}  // namespace
}  // namespace headway::rails::shm
