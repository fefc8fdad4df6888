#include "collectives/shown_exchanges.hpp"

namespace headway::collectives {

/// Each stream in one piece, but for those that fill the bank.
std::int64_t shown_exchanges::next_begin(std::int64_t bytes) const noexcept {
  return next_byte_ + bytes <= used_.bytes_for(bytes) ? next_byte_ : 0;
}

/// What readers have finished is mostly known from their next lines, which this rank reads anyway.
/// Where they write it down is looked up only if something depends on it: that line then moves from
/// core to core.
bool shown_exchanges::is_line_free(std::uint64_t exchange) noexcept {
  while (count_ > 0 && (readers_.is_known_as_read(shown_[first_]) ||
                        (count_ == shown_max && readers_.is_read(shown_[first_])))) {
    first_ = (first_ + 1) % shown_max;
    --count_;
  }
  if (count_ == shown_max) return false;
  for (std::size_t i = 0; i < count_; ++i) {
    const auto& other = shown_[(first_ + i) % shown_max];
    const bool same =
        bank_memory::line_number(other.exchange) == bank_memory::line_number(exchange);
    if (same && !readers_.is_read(other)) return false;
  }
  return true;
}

bool shown_exchanges::has_bytes(std::int64_t bytes) noexcept {
  const auto begin = next_begin(bytes);
  for (std::size_t i = 0; i < count_; ++i) {
    const auto& other = shown_[(first_ + i) % shown_max];
    if (begin < other.end && other.begin < begin + bytes && !readers_.is_read(other)) return false;
  }
  return true;
}

void shown_exchanges::add(std::uint64_t exchange, rank_set readers) noexcept {
  shown_[(first_ + count_++) % shown_max] = {.exchange = exchange, .readers = readers};
}

std::int64_t shown_exchanges::add(std::uint64_t exchange, rank_set readers,
                                  std::int64_t bytes) noexcept {
  const auto begin = next_begin(bytes);
  if (begin < next_byte_) used_.gone_round();
  next_byte_ = begin + bytes;
  shown_[(first_ + count_++) % shown_max] = {exchange, readers, begin, next_byte_};
  return begin;
}

}  // namespace headway::collectives
