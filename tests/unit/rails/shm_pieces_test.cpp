#include <gtest/gtest.h>

#include <atomic>

#include "rails/shm/layout.hpp"
#include "rails/shm/pieces.hpp"

namespace headway::rails::shm {
namespace {

TEST(shm_pieces, a_target_is_for_one_lap_of_its_line) {
  const std::uint64_t address = 0x7f12'3456'7890;
  const std::uint32_t number = 5;
  const std::uint64_t lent = lent_target(address, lap_of(number));
  EXPECT_EQ(target_of(lent, lap_of(number)), address);
  EXPECT_EQ(target_of(lent, lap_of(number + transfers_max)), 0u) << "the line is another's by then";
  EXPECT_EQ(target_of(0, lap_of(number)), 0u) << "nothing is lent yet";
}

TEST(shm_pieces, an_address_that_needs_the_laps_bits_is_not_lent) {
  EXPECT_EQ(lent_target(std::uint64_t{1} << target_bits, 0), 0u);
  EXPECT_EQ(target_of(lent_target(std::uint64_t{1} << target_bits, 3), 3), 0u);
}

TEST(shm_pieces, a_claim_takes_half_of_what_is_left_at_most) {
  std::atomic<std::uint64_t> claim{std::uint64_t{9} << 32};
  std::uint32_t first = 0;
  EXPECT_EQ(claim_pieces(claim, 9, 10, 4, first), 4u);
  EXPECT_EQ(claim_pieces(claim, 9, 10, 4, first), 3u);
  EXPECT_EQ(first, 4u);
  EXPECT_EQ(claim_pieces(claim, 9, 10, 4, first), 2u);
  EXPECT_EQ(claim_pieces(claim, 9, 10, 4, first), 1u);
  EXPECT_EQ(first, 9u);
  EXPECT_EQ(claim_pieces(claim, 9, 10, 4, first), 0u);
  EXPECT_EQ(claim_pieces(claim, 8, 10, 4, first), 0u) << "another transfer's";
}

TEST(shm_pieces, an_end_that_copies_alone_claims_all_that_it_wants) {
  std::atomic<std::uint64_t> claim{std::uint64_t{9} << 32};
  std::uint32_t first = 0;
  EXPECT_EQ(claim_pieces(claim, 9, 10, 8, first, true), 8u);
  EXPECT_EQ(claim_pieces(claim, 9, 10, 8, first, true), 2u);
  EXPECT_EQ(first, 8u);
}

}  // namespace
}  // namespace headway::rails::shm
