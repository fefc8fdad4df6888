#pragma once

#include <cstdint>

#include "collectives/settings.hpp"
#include "messages/numbers.hpp"
#include "messages/operation_log.hpp"

namespace headway::collectives {

/// What a rank calls as an operation of its team: a word of operation_log.
struct call {
  enum class form : std::uint8_t { blocking, non_blocking, persistent };
  static constexpr int no_root = -1;

  collective what = collective::unknown;
  form how = form::blocking;  ///< not compared between ranks
  bool in_slots = false;      ///< else by a schedule
  bool agrees = false;        ///< an operation of the library's own, in such a call of all ranks
  int root = no_root;

  [[nodiscard]] constexpr messages::operation_log::word word() const noexcept {
    return number() | std::uint32_t{in_slots} << slots_bit |
           static_cast<std::uint32_t>(root + 1) << root_bit | std::uint32_t{agrees} << agrees_bit |
           static_cast<std::uint32_t>(how) << form_bit;
  }
  [[nodiscard]] static constexpr call of(messages::operation_log::word word) noexcept {
    constexpr auto below = [](unsigned bits) { return (std::uint32_t{1} << bits) - 1; };
    return {.what = named(word & below(slots_bit)),
            .how = static_cast<form>(word >> form_bit),
            .in_slots = (word >> slots_bit & 1) != 0,
            .agrees = (word >> agrees_bit & 1) != 0,
            .root = static_cast<int>(word >> root_bit & below(agrees_bit - root_bit)) - 1};
  }

 private:
  static constexpr unsigned slots_bit = 5, root_bit = 6, agrees_bit = 29, form_bit = 30;
  static_assert(static_cast<unsigned>(collective::unknown) < 1 << slots_bit);
  static_assert(messages::operation_log::compared == (std::uint32_t{1} << form_bit) - 1);
  static_assert(messages::ranks_max < 1 << (agrees_bit - root_bit));

  /// In a word: 0 of `unknown`.
  [[nodiscard]] constexpr std::uint32_t number() const noexcept {
    return what == collective::unknown ? 0 : static_cast<std::uint32_t>(what) + 1;
  }
  [[nodiscard]] static constexpr collective named(std::uint32_t number) noexcept {
    constexpr auto numbers_end = static_cast<std::uint32_t>(collective::unknown) + 1;
    return 0 < number && number < numbers_end ? static_cast<collective>(number - 1)
                                              : collective::unknown;
  }
};

/// The number of an exchange, which all ranks count alike, as it lies in shared memory: with a part
/// of its rank's history (operation_log.hpp). So ranks that call different operations wait for each
/// other until they are told, instead of taking one for the other.
inline constexpr unsigned counted_bits = 48;
[[nodiscard]] constexpr std::uint64_t with_history(std::uint64_t counted,
                                                   std::uint64_t history) noexcept {
  return counted | history >> counted_bits << counted_bits;
}

}  // namespace headway::collectives
