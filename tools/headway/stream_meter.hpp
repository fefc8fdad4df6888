#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "rails/driver.hpp"
#include "sampling/connections.hpp"
#include "tools/headway/rail_connection.hpp"

namespace headway::tool {

/// Measures streams over one, two, four … connections at once, to find how many are fastest: the
/// drivers alone, without the engine. One side leads, the other follows, then they change roles.
///
/// Shape:    one stream over one connection finds how many bytes take `stream_ns`; then the numbers
///           of connections take turns, `rounds` times, so that a busy moment affects all of them.
///           The receiver measures from the first quarter of a stream's bytes to the third, without
///           the effects of token buckets and windows at the beginning and of connections that end
///           first. A stream without samples in that part does not count.
/// Progress: polls.
/// Errors:   `peer_lost`; `timed_out` when the other side is silent for `patience_ns`.
class stream_meter {
 public:
  struct settings {
    std::uint64_t stream_ns = 100'000'000;
    int rounds = 7;
    std::size_t memory_bytes_max = std::size_t{64} << 20;
    std::uint64_t patience_ns = 20'000'000'000;
  };

  /// The same connections in the same order at both ends.
  stream_meter(std::span<rails::driver* const> connections, rails::peer_id other,
               const settings& how);

  /// Measures the direction from this side to the other one, which is inside `follow`.
  [[nodiscard]] base::result<std::vector<sampling::stream_rates>> lead();
  /// Serves the other side's `lead`; returns the same table.
  [[nodiscard]] base::result<std::vector<sampling::stream_rates>> follow();

 private:
  using table = std::vector<sampling::stream_rates>;
  enum class word_kind : std::uint32_t { none, show, shown, stream, ready, rate, over };
  struct word {
    word_kind kind = word_kind::none;
    std::uint32_t connections = 0;
    std::uint64_t bytes = 0;    ///< of each connection
    double rate = 0;            ///< bytes per nanosecond; 0: no middle of it was seen
    bool counts = false;        ///< into the table
    rails::ticket target = {};  ///< of `shown`: the other side's memory for a connection
    [[nodiscard]] static bool keeps_payload() noexcept { return false; }
  };

  [[nodiscard]] table unmeasured() const;
  static void enter(table& into, std::size_t connections, double rate);
  [[nodiscard]] base::result<std::uint64_t> enough_bytes();
  [[nodiscard]] base::result<double> stream(std::size_t connections, std::uint64_t bytes,
                                            bool counts);
  [[nodiscard]] base::result<> send_stream(std::size_t connections, std::uint64_t bytes_each);
  [[nodiscard]] base::result<double> take_stream(std::size_t connections, std::uint64_t bytes_each);
  [[nodiscard]] std::span<std::byte> part(std::size_t connection);

  std::span<rails::driver* const> connections_;
  const rails::peer_id other_;
  const settings how_;
  typed_connection<word> connection_;
  std::vector<std::byte> memory_;
  std::vector<rails::ticket> targets_;  ///< by connection, while leading
};

}  // namespace headway::tool
