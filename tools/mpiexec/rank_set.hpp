#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace headway::mpiexec {

/// Some ranks of the job, as a user writes them: "all", "none", "3", "0,2-4".
class rank_set {
 public:
  /// Errors:   `bad_input` without a text.
  [[nodiscard]] static base::result<rank_set> parse(std::string_view text);
  [[nodiscard]] static rank_set all() { return rank_set({{0, rank_max}}); }
  [[nodiscard]] static rank_set one(int rank) { return rank_set({{rank, rank}}); }
  rank_set() = default;  ///< none

  [[nodiscard]] bool has(int rank) const noexcept;
  [[nodiscard]] bool is_all() const noexcept { return has(0) && has(rank_max); }
  /// "0,2-4"; "all", "none".
  [[nodiscard]] std::string text() const;

 private:
  static constexpr int rank_max = 1 << 30;
  using range = std::pair<int, int>;
  explicit rank_set(std::vector<range> ranges) : ranges_(std::move(ranges)) {}
  std::vector<range> ranges_;  ///< first and last rank
};

}  // namespace headway::mpiexec
