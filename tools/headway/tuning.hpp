#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/choice.hpp"
#include "sampling/plausibility.hpp"

namespace headway::tool {

// What follows from the times of `headway tune`, without measuring.

/// An algorithm at one size: its times, one a round. All candidates ran in each round, in turns.
struct timed_algorithm {
  collectives::algorithm use{};
  std::vector<double> times_us;
  double usual_us = 0;  ///< out, of `judge`: the lower quartile
};

/// The algorithms from the quickest to the slowest, or why their times say nothing.
struct judgement {
  std::vector<timed_algorithm> order;
  sampling::doubt why = sampling::doubt::none;
};

/// The built-in choice stays in front unless another one is clearly quicker: its usual time is at
/// most `clearly` of the built-in one's, and it was quicker in three rounds of four.
/// Shape:    `all` has the built-in choice, and as many times of each.
[[nodiscard]] judgement judge(std::vector<timed_algorithm> all, collectives::algorithm built_in);
inline constexpr double clearly = 0.95;

/// The sizes at which an operation is measured: of the vector, or of one block of `ranks`. The
/// blocks of all ranks stay within some MB.
[[nodiscard]] std::vector<std::int64_t> tuned_sizes(collectives::collective what, int ranks);
/// The largest size for which the one at `index` stands: half-way, by factors, to the next one.
[[nodiscard]] std::int64_t bytes_max_of(std::span<const std::int64_t> sizes, std::size_t index);

/// Appends a row, or widens the last one if it has the same order.
void add_row(collectives::tuned_shape& to, collectives::collective what, std::int64_t bytes_max,
             std::span<const timed_algorithm> order);

}  // namespace headway::tool
