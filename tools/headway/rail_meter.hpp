#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.hpp"
#include "rails/driver.hpp"
#include "sampling/curve.hpp"
#include "sampling/plausibility.hpp"
#include "tools/headway/rail_connection.hpp"

namespace headway::tool {

/// Nanoseconds at powers of two; 0 where nothing was measured.
using samples = std::array<double, sampling::curve::sample_count>;

/// The measured times of one direction of a rail.
struct measured {
  samples piece{};  ///< put into the other side's memory
  samples eager{};  ///< in a packet
  samples cost{};   ///< processor time of the sender for a piece
  /// The first time that stayed implausible though it was measured again: nothing of this is kept.
  sampling::doubt why = sampling::doubt::none;
  std::uint32_t reserved = 0;
  std::uint64_t doubtful_bytes = 0;
};

/// Measures one rail between two processes: the driver alone, without the engine. One side leads,
/// the other follows, then they change roles.
///
/// Shape:    sizes grow until one takes longer than `slow_ns`; each is repeated for `size_ns`, and
///           the lower quartile counts. What is implausible (sampling/plausibility.hpp) is measured
///           again, at most `attempts` times in all.
/// Progress: polls; for the processor's cost it sleeps where the rail can wake it.
/// Errors:   `peer_lost`; `timed_out` when the other side is silent for `patience_ns`.
/// Source:   multirail08, section III-C.
class rail_meter {
 public:
  struct settings {
    std::uint64_t size_ns = 20'000'000;
    std::uint64_t slow_ns = 100'000'000;
    std::uint64_t patience_ns = 20'000'000'000;
    std::size_t bytes_max = std::size_t{64} << 20;
    int attempts = 3;
  };

  rail_meter(rails::driver& rail, rails::peer_id other, const settings& how);

  /// Measures the direction from this side to the other one, which is inside `follow`.
  [[nodiscard]] base::result<measured> lead();
  /// Serves the other side's `lead`; returns its result.
  [[nodiscard]] base::result<measured> follow();

 private:
  enum class word_kind : std::uint32_t { none, packet, expect, ready, arrived, result, over };
  struct word {
    word_kind kind = word_kind::none;
    std::uint32_t reserved = 0;
    std::uint64_t bytes = 0;
    rails::ticket target = {};  ///< of `ready`
    [[nodiscard]] bool keeps_payload() const noexcept { return kind == word_kind::result; }
  };

  [[nodiscard]] base::result<> await(word_kind wanted, bool asleep = false);
  [[nodiscard]] base::result<> one_packet(std::size_t bytes);
  [[nodiscard]] base::result<> one_piece(std::size_t bytes, std::uint64_t& ns,
                                         std::uint64_t& processor_ns, bool asleep);
  [[nodiscard]] base::result<std::vector<double>> repeated(
      const std::function<base::result<double>()>& once);
  [[nodiscard]] base::result<double> usual(const std::function<base::result<double>()>& once);
  /// `usual` of exchanges that carry bytes, which without would take `empty_ns` now; what remains
  /// implausible is noted in `into`.
  [[nodiscard]] base::result<double> plausible(std::size_t bytes, const double& empty_ns,
                                               measured& into,
                                               const std::function<base::result<double>()>& once);
  [[nodiscard]] base::result<double> round_trip(std::size_t bytes);
  [[nodiscard]] base::result<> measure_empty();
  [[nodiscard]] bool is_too_slow(std::size_t bytes, double ns) const noexcept;
  [[nodiscard]] base::result<> measure_packets(measured& into);
  [[nodiscard]] base::result<> measure_pieces(measured& into);

  rails::driver* const rail_;
  const rails::peer_id other_;
  const settings how_;
  typed_connection<word> connection_;
  const rails::limits limits_;
  std::vector<std::byte> memory_;
  const double memory_bytes_per_ns_;
  const double clock_ns_;
  double empty_ns_ = HUGE_VAL;  // there and back without bytes: the quickest so far …
  double answer_ns_ = 0;        // … and half of it
};

}  // namespace headway::tool
