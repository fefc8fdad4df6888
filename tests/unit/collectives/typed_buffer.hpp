#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "datatypes/build.hpp"
#include "datatypes/layout.hpp"

namespace headway::collectives::test {

using words = std::vector<std::uint32_t>;

/// A way to lay out pairs of 32-bit words: each element of the type is one pair.
struct pair_type {
  std::string name;
  datatypes::layout_ptr layout;
};

/// Back to back; with gaps; and with gaps, other bounds and the words in reverse.
inline std::vector<pair_type> pair_types() {
  using namespace datatypes;
  const auto& word = layout::of(number::uint32);
  const std::int64_t back[] = {8, -4};
  const auto reverse = build_hindexed_block(1, back, word).value();
  return {{"plain", build_contiguous(2, word).value()},
          {"gaps", build_hvector(2, 1, 12, word).value()},
          {"reverse", build_resized(-12, 32, *reverse).value()}};
}

/// A buffer of `count` pairs laid out in a type, with bytes around and between that must stay.
class typed_buffer {
 public:
  typed_buffer(const datatypes::layout& type, std::int64_t count)
      : type_(type),
        count_(count),
        bytes_(static_cast<std::size_t>(type.reach(count)->bytes()) + 2 * rim) {
    std::memset(bytes_.data(), 0xEE, bytes_.size());
  }
  [[nodiscard]] std::byte* data() { return bytes_.data() + rim - type_->reach(count_)->begin; }
  void set(const words& w) { type_->unpack(bytes_of(w), data(), count_); }
  [[nodiscard]] words get() {
    words w(static_cast<std::size_t>(2 * count_));
    type_->pack(data(), count_, reinterpret_cast<std::byte*>(w.data()));
    return w;
  }
  /// Nothing but the pairs themselves was ever written.
  [[nodiscard]] bool rest_untouched() {
    typed_buffer fresh(*type_, count_);
    fresh.set(get());
    return fresh.bytes_ == bytes_;
  }

 private:
  static constexpr std::size_t rim = 64;
  static const std::byte* bytes_of(const words& w) {
    return reinterpret_cast<const std::byte*>(w.data());
  }
  datatypes::layout_ptr type_;
  std::int64_t count_;
  std::vector<std::byte> bytes_;
};

/// What rank `rank` contributes: pairs that no other rank has.
inline words contribution(int rank, std::int64_t pairs, std::uint32_t salt = 0) {
  words w;
  for (std::int64_t i = 0; i < 2 * pairs; ++i) {
    const auto x = static_cast<std::uint32_t>(rank * 7919 + i * 104729) + salt * 65537u;
    w.push_back(x * 2654435761u | 1u);
  }
  return w;
}

/// Pairs (a, b) as functions x -> a*x + b: their composition keeps the order of operands.
inline void compose(const std::uint32_t* left, std::uint32_t* right) {
  right[1] = left[0] * right[1] + left[1];
  right[0] = left[0] * right[0];
}

}  // namespace headway::collectives::test
