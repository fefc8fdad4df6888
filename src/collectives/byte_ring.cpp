#include "collectives/byte_ring.hpp"

#include "base/lock_guard.hpp"
#include "collectives/bank_memory.hpp"

namespace headway::collectives {

byte_ring::byte_ring(rails::shm_slots& memory, std::span<const rails::peer_id> processes,
                     std::uint32_t slot, const extent& where, bool oversubscribed)
    : where_(where), used_(where.bytes, static_cast<int>(processes.size()), oversubscribed) {
  for (const auto process : processes) areas_.push_back(memory.bank_of(process, slot));
}

/// A page may have passed to another operation since, whose numbers are greater: then every rank
/// has ended the one that this stream was of.
bool byte_ring::is_read(const stream& s) const noexcept {
  return s.readers.all([&](int rank) {
    auto* const area = areas_[static_cast<std::size_t>(rank)];
    return bank_memory::reading_in(area + s.page_at)->finished() >= s.exchange;
  });
}

bool byte_ring::is_in_the_way(std::int64_t begin, std::int64_t bytes) const noexcept {
  const taken& oldest = taken_[first_];
  const bool skipped = begin < next_ && oldest.begin >= next_;
  return skipped || (oldest.begin < begin + bytes && begin < oldest.end);
}

bool byte_ring::make_room(std::int64_t begin, std::int64_t bytes) noexcept {
  while (count_ > 0 && (count_ == streams_max || is_in_the_way(begin, bytes))) {
    if (!is_read(taken_[first_])) return false;
    first_ = (first_ + 1) % streams_max;
    --count_;
  }
  return true;
}

std::optional<std::int64_t> byte_ring::take(const stream& what, std::int64_t bytes) noexcept {
  if (bytes > where_.bytes / 2) return std::nullopt;
  const base::lock_guard guard(lock_);
  auto begin = next_ + bytes <= used_.bytes_for(bytes) ? next_ : 0;
  if (!make_room(begin, bytes)) {
    begin = next_;
    if (begin + bytes > where_.bytes || !make_room(begin, bytes)) return std::nullopt;
  }
  if (begin < next_) used_.gone_round();
  next_ = begin + bytes;
  taken_[(first_ + count_++) % streams_max] = {what, begin, next_};
  return begin;
}

}  // namespace headway::collectives
