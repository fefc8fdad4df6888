#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "packets/peers.hpp"

namespace headway::packets::testing {

/// Every process is reached over every rail: rail i at `addresses[i]`, by default one byte.
class reaches_all final : public router {
 public:
  using address_list = std::vector<std::optional<std::vector<std::byte>>>;

  explicit reaches_all(std::size_t rails = 1) : addresses(rails, std::vector<std::byte>(1)) {}

  base::result<> route(peers& all, rails::peer_id id) override {
    asked.fetch_add(1, std::memory_order_relaxed);  // processes of a test may share it
    const auto reaching = all.connect(id, addresses, turns);
    if (!reaching) return std::unexpected(reaching.error());
    for (std::size_t i = 0; i < known.size(); ++i) all.know(id, i, known[i]);
    return {};
  }

  [[nodiscard]] bool end_is_seen(rails::peer_id) const noexcept override { return sees_ends; }

  address_list addresses;
  std::vector<std::size_t> turns;
  std::vector<sampling::profile> known;  // of each rail; empty: nothing was measured
  bool sees_ends = false;                // its drivers detect a peer's end
  std::atomic<int> asked{0};
};

}  // namespace headway::packets::testing
